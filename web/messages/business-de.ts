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

  sections: { settings: 'Einstellungen' },

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
