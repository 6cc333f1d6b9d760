import { counted } from './counted.ts'

/** The words beside an exact text: what in it is not what it seems. */
export const exactTextEn = {
  marked: 'Not everything in this text is what it seems:',
  oddities: {
    order: (times: number) =>
      counted(
        times,
        'line with words in both directions: read it as it says',
        'lines with words in both directions: read them as they say',
      ),
    direction: (times: number) =>
      counted(times, 'character that turns the direction', 'characters that turn the direction'),
    invisible: (times: number) => counted(times, 'invisible character', 'invisible characters'),
    tag: (times: number) => counted(times, 'hidden tag character', 'hidden tag characters'),
    variation: (times: number) => counted(times, 'invisible selector', 'invisible selectors'),
    control: (times: number) => counted(times, 'control character', 'control characters'),
    unknown: (times: number) => counted(times, 'character without a meaning', 'characters without a meaning'),
    combining: (times: number) =>
      counted(times, 'place with marks that hide or strike out', 'places with marks that hide or strike out'),
    'look-alike': (times: number) =>
      counted(times, 'character that passes for another', 'characters that pass for others'),
  },
  /** Of letters that pass for Latin ones, or for those of a neighbour. */
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
  /** How the words of a line that mixes directions are ordered. */
  ways: { ltr: 'left to right →', rtl: '← right to left' },
}
