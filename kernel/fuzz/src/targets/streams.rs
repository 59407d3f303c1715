//! Streams return their lines, or a column of them, independent of the chunk sizes.

use crate::input::Input;
use crate::make::{self, Random};
use truebleu_kernel::error::Error;
use truebleu_kernel::text_batches::{BatchSize, Block, Chunk, ReadChunk, Source, Stream};

/// Make an input: the column or none, the chunk size, the batch size and kind; then the bytes.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(std::array::from_fn::<u8, 4, _>(|_| random.next_bits() as u8));
    for _ in 0..random.length(12) {
        for i in 0..random.length(6) {
            if i > 0 {
                out.push(b'\t');
            }
            make::append_text(random, 20, out);
        }
        out.extend_from_slice(
            random.choose(&["\n", "\n", "\n", "\n\n", "\r\n", "\n\r", ""]).as_bytes(),
        );
    }
    if random.once_in(10) {
        let mut damaged = out.split_off(4);
        make::damage(random, &mut damaged);
        out.append(&mut damaged);
    }
}

/// Reader that returns bytes in chunks.
struct ChunkReader {
    text_bytes: Vec<u8>,
    position: usize,
    chunk_size: usize,
    knows_length: bool,
}

impl ReadChunk for ChunkReader {
    fn read_into(&mut self, chunk: &mut Chunk) -> Result<usize, Error> {
        let count = self.chunk_size.min(self.text_bytes.len() - self.position);
        chunk.append(&self.text_bytes[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }

    fn remaining_bytes(&self) -> Option<u64> {
        self.knows_length.then_some((self.text_bytes.len() - self.position) as u64)
    }
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let column = input.below(5).checked_sub(1);
    let chunk_size = 1 + input.below(100);
    let batch_size = 1 + input.below(60);
    let flags = input.byte();
    let text = input.0.to_vec();
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    // There is a line after the last newline only if it is not empty.
    lines.pop_if(|line| line.is_empty());
    let fields = lines.iter().map(|line| match column {
        None => Some(*line),
        Some(column) => line.split(|&byte| byte == b'\t').nth(column),
    });
    let fields: Vec<Option<&[u8]>> = fields.collect();

    // Mostly the length is known, and the memory has that size.
    let reader = ChunkReader {
        text_bytes: text.clone(),
        position: 0,
        chunk_size,
        knows_length: flags & 0xE0 != 0,
    };
    let mut stream = Stream::new("stream".into(), column, Box::new(reader));
    let mut line_index = 0;
    let mut offset = 0;
    loop {
        let size = if flags & 1 == 0 {
            BatchSize::Segments(batch_size)
        } else {
            BatchSize::Bytes(batch_size)
        };
        let batch = match stream.next(size) {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(Error::Column { line, column_count, column: requested, .. }) => {
                let line = line as usize - 1;
                assert!(
                    line >= line_index
                        && fields[line].is_none()
                        && fields[..line].iter().all(Option::is_some)
                );
                let count = lines[line].split(|&byte| byte == b'\t').count();
                assert_eq!((column_count, Some(requested - 1)), (count, column));
                return;
            }
            Err(error) => panic!("{error}"),
        };
        assert!(batch.count > 0 && batch.streams.len() == 1);
        if let BatchSize::Segments(max_segments) = size {
            assert!(batch.count == max_segments || line_index + batch.count == lines.len());
        }
        let [Block::Lines { lines: text, offset: block_offset }] = &batch.streams[..] else {
            panic!("expected lines");
        };
        assert_eq!(*block_offset, column.is_none().then_some(offset));
        let text = text.padded().bytes();
        let batch_fields: Vec<&[u8]> = text
            .strip_suffix(b"\n")
            .expect("a last newline")
            .split(|&byte| byte == b'\n')
            .collect();
        assert_eq!(batch_fields.len(), batch.count);
        for field in batch_fields {
            assert_eq!(Some(field), fields[line_index], "line {}", line_index + 1);
            offset += lines[line_index].len() as u64 + 1;
            line_index += 1;
        }
    }
    assert_eq!(line_index, lines.len());
}
