// Filters by what a text holds, by rule and without a model: numbers, and names.

/** What can be asked, and what it is called. @type {Record<string, string>} */
export const RULE_TITLES = { "numbers": "with numbers", "-numbers": "without numbers", "names": "with names", "-names": "without names" };

/** Languages that write all nouns with a capital, which then says nothing of names. */
const NOUN_CAPITAL_LANGUAGES = ["de", "lb", "nds"];

/** Whether a text has a digit, of any script. @param {string} text */
export const hasNumber = text => /\p{Nd}/u.test(text);

/** Whether a word with a capital stands inside a sentence: not at its beginning, nor behind an opening quote. @param {string} text */
export function hasName(text) {
  let startsSentence = true;
  for (const word of text.split(/\s+/u)) {
    if (!word) continue;
    const start = /[\p{L}\p{N}]/u.exec(word)?.index ?? -1;
    // "I" and "I'm" are no names: two letters at least.
    if (start >= 0 && !startsSentence && !/["“”„«»‘‚(]/u.test(word.slice(0, start)) && /^\p{Lu}[\p{L}\p{M}]/u.test(word.slice(start))) return true;
    // A word of marks alone leaves things as they are.
    if (start >= 0 || /[.!?:…。！？]/u.test(word)) startsSentence = /[.!?:…。！？]["“”«»’')\]]*$/u.test(word);
  }
  return false;
}

/** Whose texts a rule reads: the references, or the source where that says more. @param {import("./report_data.js").ReportData} data @param {string} rule */
export function getRuleRoles(data, rule) {
  const { source, target } = data.manifest.languages ?? {}, capitals = !NOUN_CAPITAL_LANGUAGES.includes(target);
  if (rule.endsWith("numbers") ? data.hasSource : data.hasSource && !capitals && !NOUN_CAPITAL_LANGUAGES.includes(source)) return ["source"];
  return data.roles.filter(role => role.startsWith("reference"));
}
