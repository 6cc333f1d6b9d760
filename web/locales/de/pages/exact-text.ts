import { plural } from '../../plural.ts'
import type { exactTextMessages as english } from '../../en/pages/exact-text.ts'

/** Holds the messages for characters that may mislead in a text to sign. In German. */
export const exactTextMessages: typeof english = {
  marked: 'Dieser Text enthält Zeichen, die täuschen können:',
  oddities: {
    order: (times) =>
      plural('de', times, {
        one: '1 Zeile mit beiden Leserichtungen. Lies sie in der angezeigten Richtung.',
        other: `${times} Zeilen mit beiden Leserichtungen. Lies sie in der angezeigten Richtung.`,
      }),
    direction: (times) =>
      plural('de', times, {
        one: '1 Zeichen zur Änderung der Schreibrichtung',
        other: `${times} Zeichen zur Änderung der Schreibrichtung`,
      }),
    invisible: (times) => plural('de', times, { one: '1 unsichtbares Zeichen', other: `${times} unsichtbare Zeichen` }),
    tag: (times) => plural('de', times, { one: '1 verborgenes Tag-Zeichen', other: `${times} verborgene Tag-Zeichen` }),
    variation: (times) =>
      plural('de', times, {
        one: '1 unsichtbares Variantenauswahl-Zeichen',
        other: `${times} unsichtbare Variantenauswahl-Zeichen`,
      }),
    control: (times) => plural('de', times, { one: '1 Steuerzeichen', other: `${times} Steuerzeichen` }),
    unknown: (times) =>
      plural('de', times, { one: '1 nicht zugewiesenes Zeichen', other: `${times} nicht zugewiesene Zeichen` }),
    combining: (times) =>
      plural('de', times, {
        one: '1 Stelle mit sich überlagernden Zeichen',
        other: `${times} Stellen mit sich überlagernden Zeichen`,
      }),
    'look-alike': (times) =>
      plural('de', times, { one: '1 verwechselbares Zeichen', other: `${times} verwechselbare Zeichen` }),
  },

  scripts: {
    Latin: 'lateinisch',
    Cyrillic: 'kyrillisch',
    Greek: 'griechisch',
    Armenian: 'armenisch',
    Cherokee: 'Cherokee',
    Coptic: 'koptisch',
    Lisu: 'Lisu',
    Hebrew: 'hebräisch',
    Arabic: 'arabisch',
  },

  ways: {
    ltr: 'von links nach rechts →',
    rtl: '← von rechts nach links',
  },
}
