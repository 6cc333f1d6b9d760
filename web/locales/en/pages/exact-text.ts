import { plural } from '../../plural.ts'

/** Holds the messages for characters that may mislead in a text to sign. */
export const exactTextMessages = {
  marked: 'This text contains characters that may mislead you:',
  oddities: {
    order: (times: number) =>
      plural('en', times, {
        one: '1 line with both reading directions. Read it in the direction shown.',
        other: `${times} lines with both reading directions. Read them in the direction shown.`,
      }),
    direction: (times: number) =>
      plural('en', times, { one: '1 text-direction character', other: `${times} text-direction characters` }),
    invisible: (times: number) =>
      plural('en', times, { one: '1 invisible character', other: `${times} invisible characters` }),
    tag: (times: number) =>
      plural('en', times, { one: '1 hidden tag character', other: `${times} hidden tag characters` }),
    variation: (times: number) =>
      plural('en', times, { one: '1 invisible variation selector', other: `${times} invisible variation selectors` }),
    control: (times: number) =>
      plural('en', times, { one: '1 control character', other: `${times} control characters` }),
    unknown: (times: number) =>
      plural('en', times, { one: '1 unassigned character', other: `${times} unassigned characters` }),
    combining: (times: number) =>
      plural('en', times, { one: '1 place with overlapping marks', other: `${times} places with overlapping marks` }),
    'look-alike': (times: number) =>
      plural('en', times, { one: '1 look-alike character', other: `${times} look-alike characters` }),
  },

  /** Names the script of a letter that looks like one of another script. */
  scripts: {
    Latin: 'Latin',
    Cyrillic: 'Cyrillic',
    Greek: 'Greek',
    Armenian: 'Armenian',
    Cherokee: 'Cherokee',
    Coptic: 'Coptic',
    Lisu: 'Lisu',
    Hebrew: 'Hebrew',
    Arabic: 'Arabic',
  },

  /** Names the reading direction of a line with words in both directions. */
  ways: {
    ltr: 'left to right →',
    rtl: '← right to left',
  },
}
