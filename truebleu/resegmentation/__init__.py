"""Re-segmentation of texts whose segments differ from the segments of the reference.

`units` splits texts into units, `methods` aligns them with the kernel, and `resegment` creates the
segments and measures how well they agree with the reference.
`subtitles` reads SRT and WebVTT files, and `suber` compares them without segments.
"""
