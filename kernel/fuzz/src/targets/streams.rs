//! Streams give their lines, or a column of them, whatever pieces they come in.

use crate::input::Input;
use crate::make::{self, Random};
use truebleu_kernel::error::Error;
use truebleu_kernel::text_batches::{Block, Piece, Read, Source, Stream, Want};

/// An input: the column or none, the pieces' size, the batches' size and kind; then the bytes.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(std::array::from_fn::<u8, 4, _>(|_| random.bits() as u8));
    for _ in 0..random.length(12) {
        for i in 0..random.length(6) {
            if i > 0 {
                out.push(b'\t');
            }
            make::text(random, 20, out);
        }
        out.extend_from_slice(
            random.of(&["\n", "\n", "\n", "\n\n", "\r\n", "\n\r", ""]).as_bytes(),
        );
    }
    if random.once_in(10) {
        let mut damaged = out.split_off(4);
        make::damage(random, &mut damaged);
        out.append(&mut damaged);
    }
}

/// Bytes that come in pieces.
struct Bytes {
    rest: Vec<u8>,
    at: usize,
    piece: usize,
    known: bool,
}

impl Read for Bytes {
    fn read(&mut self, into: &mut Piece) -> Result<usize, Error> {
        let count = self.piece.min(self.rest.len() - self.at);
        into.append(&self.rest[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }

    fn left(&self) -> Option<u64> {
        self.known.then_some((self.rest.len() - self.at) as u64)
    }
}

/// Runs it.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let column = input.below(5).checked_sub(1);
    let piece = 1 + input.below(100);
    let amount = 1 + input.below(60);
    let kind = input.byte();
    let text = input.0.to_vec();
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    // Behind the last newline there is a line only if it has something.
    lines.pop_if(|line| line.is_empty());
    let fields = lines.iter().map(|line| match column {
        None => Some(*line),
        Some(column) => line.split(|&byte| byte == b'\t').nth(column),
    });
    let fields: Vec<Option<&[u8]>> = fields.collect();

    // Mostly it is known how much comes, and the memory is of that size.
    let bytes = Bytes { rest: text.clone(), at: 0, piece, known: kind & 0xE0 != 0 };
    let mut stream = Stream::new("stream".into(), column, Box::new(bytes));
    let mut at = 0;
    let mut offset = 0;
    loop {
        let want = if kind & 1 == 0 { Want::Segments(amount) } else { Want::Bytes(amount) };
        let batch = match stream.next(want) {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(Error::Column { line, found, column: wanted, .. }) => {
                let line = line as usize - 1;
                assert!(
                    line >= at
                        && fields[line].is_none()
                        && fields[..line].iter().all(Option::is_some)
                );
                let count = lines[line].split(|&byte| byte == b'\t').count();
                assert_eq!((found, Some(wanted - 1)), (count, column));
                return;
            }
            Err(error) => panic!("{error}"),
        };
        assert!(batch.count > 0 && batch.streams.len() == 1);
        if let Want::Segments(most) = want {
            assert!(batch.count == most || at + batch.count == lines.len());
        }
        let [Block::Lines { lines: text, offset: place }] = &batch.streams[..] else {
            panic!("something else than lines");
        };
        assert_eq!(*place, column.is_none().then_some(offset));
        let text = text.padded().bytes();
        let found: Vec<&[u8]> = text
            .strip_suffix(b"\n")
            .expect("a last newline")
            .split(|&byte| byte == b'\n')
            .collect();
        assert_eq!(found.len(), batch.count);
        for field in found {
            assert_eq!(Some(field), fields[at], "line {}", at + 1);
            offset += lines[at].len() as u64 + 1;
            at += 1;
        }
    }
    assert_eq!(at, lines.len());
}
