import type { adminBackupsMessages as english } from '../../../../en/pages/admin/service/backups.ts'

/** Holds the messages about backups, for operators. In German. */
export const adminBackupsMessages: typeof english = {
  title: 'Backups',
  lead: 'Eine verschlüsselte Datei mit allem, was bleibt: Personen, Apps, Organisationen, Schlüssel, Audit-Log.',
  last: 'Letztes Backup',
  none: 'Dieser Dienst hat keines erstellt.',
  create: 'Backup erstellen',
  createWhat: 'Dein Browser verschlüsselt die Datei. Bewahre sie auf einem anderen Rechner auf, SECRET_KEY woanders.',
  passphrase: 'Passphrase',
  passphraseHint: (min) => `Mindestens ${min} Zeichen. Ohne sie kann niemand die Datei lesen.`,
  tooShort: (min) => `Verwende mindestens ${min} Zeichen.`,
  download: 'Backup herunterladen',
  downloaded: 'Backup heruntergeladen.',
}
