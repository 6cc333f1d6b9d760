import type { BusinessWords } from '../business/words.ts'

/** The words of the pages of organizations, in German. */
export const businessDe: BusinessWords = {
  title: 'Organisationen',
  account: 'Dein Konto',
  retry: 'Noch einmal',
  none: 'Du bist noch in keiner Organisation. Wer dich einlädt, schickt dir einen Link.',
  add: 'Neue Organisation',
  create: 'Organisation anlegen',
  name: 'Name',
  nameInvalid: '1 bis 80 Zeichen, die man sieht.',
  ownAs: 'Unter welchem deiner Namen gehört sie dir?',
  unknown: 'Diese Organisation gibt es nicht',
  unknownWhy: 'Sie wurde gelöscht, oder du bist nicht mehr darin.',
  save: 'Speichern',
  saved: 'Gespeichert.',

  roles: { owner: 'Inhaber', admin: 'Verwalter', signer: 'Unterzeichner', member: 'Mitglied', viewer: 'Betrachter' },

  sections: { domains: 'Domains', settings: 'Einstellungen' },

  domains: {
    what:
      'Eine bestätigte Domain zeigt, dass ihre Adressen eure sind: Wer mit einer davon durch eure eigene Anmeldung ' +
      'kommt, tritt ohne Einladung bei.',
    domain: 'Domain',
    hint: 'Wie example.com.',
    claim: 'Domain hinzufügen',
    pending: 'Noch nicht bestätigt. Trag diesen Eintrag im DNS der Domain ein, dann prüf ihn.',
    verified: (day) => `Bestätigt: ${day}. Der Eintrag muss im DNS bleiben.`,
    failing: (day) => `Der Eintrag fehlt. Stellt ihr ihn nicht wieder her, gilt die Domain nur noch bis ${day}.`,
    record: 'Der Eintrag',
    recordName: 'TXT-Eintrag',
    recordValue: 'Wert',
    check: 'Jetzt prüfen',
    remove: 'Entfernen',
    removeTitle: (domain) => `${domain} entfernen?`,
    removeWhat: 'Niemand tritt mehr durch eine Adresse dort bei, und eine andere Organisation kann sie bestätigen.',
    removePending: 'Ihr Eintrag gilt dann nichts. Wenn du die Domain wieder hinzufügst, bekommt sie einen anderen.',
    removeNow: 'Entfernen',
    verdicts: {
      invalid: 'Eine Domain sieht aus wie example.com.',
      public: 'Unter dieser Domain kann jeder einen Namen oder ein Postfach haben.',
      claimed: 'Diese Domain steht schon in der Liste.',
      'too many': 'Es sind schon fünfzig Domains. Entferne erst eine.',
      taken: 'Eine andere Organisation hat diese Domain bestätigt.',
      unanswered: 'Die Nameserver dieser Domain antworten nicht. Versuch es gleich noch einmal.',
      nothing: 'Den Eintrag gibt es noch nicht. Ein neuer ist manchmal erst nach einer Stunde zu sehen.',
      'other text': 'Es gibt einen TXT-Eintrag mit diesem Namen, aber mit einem anderen Wert.',
      alias: 'Unter diesem Namen steht ein CNAME. Der TXT-Eintrag muss selbst dort stehen.',
    },
  },

  slug: 'Kurzname',
  slugHint: 'Er steht in Adressen: kleine Buchstaben, Ziffern und Bindestriche.',
  logo: 'Logo',
  logoHint: 'Eine Adresse, die mit https beginnt. Apps zeigen es.',
  invalid: {
    name: '1 bis 80 Zeichen, die man sieht.',
    slug: 'Kleine Buchstaben, Ziffern und Bindestriche, keiner davon am Rand.',
    logoUrl: 'Eine Adresse, die mit https:// beginnt.',
  },

  deletion: {
    title: 'Organisation löschen',
    what: 'Ihre Mitglieder verlieren sie sofort, in jeder App, und nichts davon kommt wieder.',
    confirm: (name) => `${name} löschen?`,
    forever: 'Apps kennen sie nicht mehr. Was sie selbst davon aufbewahren, bleibt bei ihnen.',
    typeName: (name) => `Schreib „${name}“`,
    mismatch: 'So heißt die Organisation nicht.',
    now: 'Endgültig löschen',
  },
}
