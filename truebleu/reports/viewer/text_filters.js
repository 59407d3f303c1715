// Rule-based filters for texts with numbers or names.

/** Rules and their titles. @type {Record<string, string>} */
export const RULE_TITLES = { "numbers": "with numbers", "-numbers": "without numbers", "names": "with names", "-names": "without names" };

/** Languages that capitalize all nouns, so that capitals do not indicate names. */
const NOUN_CAPITAL_LANGUAGES = ["de", "lb", "nds"];

/** Return whether a text contains a digit of any script. @param {string} text */
export const hasNumber = text => /\p{Nd}/u.test(text);

/** Return whether a text contains a capitalized word inside a sentence, not at its beginning or after a quotation mark. @param {string} text */
export function hasName(text) {
  let startsSentence = true;
  for (const word of text.split(/\s+/u)) {
    if (!word) continue;
    const start = /[\p{L}\p{N}]/u.exec(word)?.index ?? -1;
    // Require two letters, because "I" and "I'm" are not names.
    if (start >= 0 && !startsSentence && !/["“”„«»‘‚(]/u.test(word.slice(0, start)) && /^\p{Lu}[\p{L}\p{M}]/u.test(word.slice(start))) return true;
    // Other punctuation without letters does not start or end a sentence.
    if (start >= 0 || /[.!?:…。！？]/u.test(word)) startsSentence = /[.!?:…。！？]["“”«»’')\]]*$/u.test(word);
  }
  return false;
}

/** Return the roles that a rule reads: the source if it is more reliable, otherwise the references. @param {import("./report_data.js").ReportData} data @param {string} rule */
export function getRuleRoles(data, rule) {
  const { source, target } = data.manifest.languages ?? {}, capitals = !NOUN_CAPITAL_LANGUAGES.includes(target);
  if (rule.endsWith("numbers") ? data.hasSource : data.hasSource && !capitals && !NOUN_CAPITAL_LANGUAGES.includes(source)) return ["source"];
  return data.roles.filter(role => role.startsWith("reference"));
}
