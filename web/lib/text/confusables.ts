// Written by `node tools/confusables.ts` from confusables.txt of Unicode 13.0.0. Do not edit.

/** Letters that pass for a digit: in the table of Unicode zero is the letter O, and one the letter l. */
export const likeDigits =
  '\\u{196}\\u{1a7}\\u{1b7}\\u{1bc}\\u{1c0}\\u{21c}\\u{222}\\u{223}\\u{a75a}\\u{a76a}\\u{a76e}\\u{a7ab}'

/** Letters that pass for another letter, of those in ASCII. */
export const likeLetters =
  '\\u{131}\\u{184}\\u{18d}\\u{196}\\u{1a6}\\u{1bd}\\u{1c0}\\u{251}\\u{261}\\u{263}\\u{269}\\u{26a}' +
  '\\u{26f}\\u{28b}\\u{28f}\\u{1d04}\\u{1d0f}\\u{1d11}\\u{1d1c}\\u{1d20}\\u{1d21}\\u{1d22}\\u{1d83}\\u{1d8c}' +
  '\\u{1e9d}\\u{1eff}\\u{213d}\\u{a731}\\u{a798}\\u{a799}\\u{a79f}\\u{a7b2}\\u{a7b3}\\u{a7b4}\\u{ab32}\\u{ab35}' +
  '\\u{ab3d}\\u{ab47}\\u{ab48}\\u{ab4e}\\u{ab52}\\u{ab5a}'

/** Signs that pass for a mark in a number. */
export const likeMarks =
  '\\u{b4}\\u{b8}\\u{2b9}\\u{2bb}\\u{2bd}\\u{2be}\\u{2c8}\\u{2d0}\\u{2f4}\\u{2f8}\\u{387}\\u{60d}' +
  '\\u{66b}\\u{66c}\\u{201a}\\u{201b}\\u{2022}\\u{2027}\\u{2041}\\u{2219}\\u{2236}\\u{22c5}\\u{2571}\\u{27cb}' +
  '\\u{29f8}\\u{2e32}\\u{a789}\\u{fe30}'
