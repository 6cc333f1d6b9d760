import { counted } from './counted.ts'
import type { exactTextEn } from './exact-text-en.ts'

/** The words beside an exact text: what in it is not what it seems. */
export const exactTextDe: typeof exactTextEn = {
  marked: 'Nicht alles in diesem Text ist, was es scheint:',
  oddities: {
    order: (times) =>
      counted(
        times,
        'Zeile mit beiden Leserichtungen: Lies sie, wie sie es sagt',
        'Zeilen mit beiden Leserichtungen: Lies sie, wie sie es sagen',
      ),
    direction: (times) => counted(times, 'Zeichen, das die Richtung dreht', 'Zeichen, die die Richtung drehen'),
    invisible: (times) => counted(times, 'unsichtbares Zeichen', 'unsichtbare Zeichen'),
    tag: (times) => counted(times, 'verstecktes Etikettzeichen', 'versteckte Etikettzeichen'),
    variation: (times) => counted(times, 'unsichtbares Auswahlzeichen', 'unsichtbare Auswahlzeichen'),
    control: (times) => counted(times, 'Steuerzeichen', 'Steuerzeichen'),
    unknown: (times) => counted(times, 'Zeichen ohne Bedeutung', 'Zeichen ohne Bedeutung'),
    combining: (times) =>
      counted(
        times,
        'Stelle, die von Zusätzen verdeckt oder gestrichen wird',
        'Stellen, die von Zusätzen verdeckt oder gestrichen werden',
      ),
    'look-alike': (times) =>
      counted(times, 'Zeichen, das wie ein anderes aussieht', 'Zeichen, die wie andere aussehen'),
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
  ways: { ltr: 'von links nach rechts →', rtl: '← von rechts nach links' },
}
