import type { adminAppsMessages as english } from '../../../en/pages/admin/apps.ts'

/** Holds the messages about the access to apps, for operators. In German. */
export const adminAppsMessages: typeof english = {
  title: 'Apps',
  lead: 'Entscheide, wer welche App verwenden darf.',
  none: 'Noch keine Apps',
  noneWhat: 'Registriere eine mit: countersign apps create',
  name: 'App',
  access: 'Zugriff',
  modes: { everyone: 'Alle', restricted: 'Eingeschränkt', none: 'Niemand' },
  modesWhat: {
    everyone: 'Alle dürfen sie verwenden.',
    restricted: 'Nur Mitglieder ihrer Gruppen dürfen sie verwenden.',
    none: 'Sie ist geschlossen.',
  },
  disabled: 'Deaktiviert',
  groups: 'Gruppen',
  groupsHint: 'Schlüssel von Gruppen, durch Leerzeichen getrennt.',
  noGroups: 'Keine',
  contact: 'Kontakt',
  contactHint: 'Wer keinen Zugriff hat, sieht ihn.',
  noContact: '–',
  change: 'Zugriff ändern',
  accessOf: (app) => `Zugriff auf ${app}`,
  save: 'Speichern',
  saved: (app) => `Zugriff auf ${app} gespeichert.`,
}
