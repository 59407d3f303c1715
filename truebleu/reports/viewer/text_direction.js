// Writing direction of texts: the direction of most of their letters, as in the kernel.

/** Direction by the first UTF-8 byte of a character: 1 left to right, 2 right to left, 0 not a letter. */
const BYTE_DIRECTIONS = Uint8Array.from({ length: 256 }, (_, byte) => byte >= 0xD6 && byte <= 0xDF ? 2
  : byte >= 0x41 && byte <= 0x5A || byte >= 0x61 && byte <= 0x7A || byte >= 0xC3 && byte <= 0xD5 || byte === 0xE0 || byte === 0xE1 || byte >= 0xE3 && byte <= 0xED || byte === 0xF0 ? 1 : 0);

/** @param {Uint8Array[][]} columns of texts in UTF-8 @returns {"ltr" | "rtl" | null} null if there are no letters */
export function detectDirection(columns) {
  const letterCounts = [0, 0, 0];
  for (const texts of columns) for (const text of texts) for (const byte of text) letterCounts[BYTE_DIRECTIONS[byte]]++;
  return letterCounts[1] + letterCounts[2] ? letterCounts[2] > letterCounts[1] ? "rtl" : "ltr" : null;
}
