// Example sentences for the playground. Each example shows one property of a metric.

/** @typedef {{title: string, metric?: string, overrides?: Record<string, any>, hypothesis: string, references: string[]}} Example */

/** @type {Example[]} */
export const EXAMPLES = [
  { title: "One word missing", hypothesis: "the ferry leaves the harbour at nine today", references: ["the ferry leaves the old harbour at nine today"] },
  { title: "Different word order", hypothesis: "today at nine the old harbour the ferry leaves", references: ["the ferry leaves the old harbour at nine today"] },
  { title: "Repeated word", hypothesis: "the the the the the the", references: ["the gull sits on the mast"] },
  { title: "Two references", hypothesis: "she closed the window because of the rain", references: ["because it was raining she shut the window", "she closed the window on account of the rain"] },
  { title: "No matching 4-gram", hypothesis: "a small boat crossed the wide bay", references: ["the small boat sailed over the wide bay"] },
  { title: "Empty hypothesis", hypothesis: "", references: ["the ferry leaves the old harbour at nine today"] },
  { title: "Punctuation", hypothesis: "“It's 3.50 euros”, she said; no more.", references: ["\"It's 3.50 euros,\" she said: no more."] },
  { title: "Lower case", hypothesis: "anna met paul in vienna on monday .", references: ["Anna met Paul in Vienna on Monday ."] },
  { title: "Japanese, split into characters", overrides: { tokenize: "char" }, hypothesis: "船は九時に古い港を出ます。", references: ["船は朝九時に古い港を出る。"] },
  { title: "Different endings, with chrF", metric: "chrf", hypothesis: "the sailors were singing old songs", references: ["the sailor sang an old song"] },
  { title: "Moved phrase, with TER", metric: "ter", hypothesis: "at nine the ferry leaves the harbour", references: ["the ferry leaves the harbour at nine"] },
];
