/** Holds the messages about backups, for operators. */
export const adminBackupsMessages = {
  title: 'Backups',
  lead: 'An encrypted file with everything that lasts: users, apps, organizations, keys, the audit log.',
  last: 'Last backup',
  none: 'This service has created none.',
  create: 'Create a backup',
  createWhat: 'Your browser encrypts the file. Keep it on another machine, and SECRET_KEY in another place.',
  passphrase: 'Passphrase',
  passphraseHint: (min: string) => `At least ${min} characters. Without it, no one can read the file.`,
  tooShort: (min: string) => `Use at least ${min} characters.`,
  download: 'Download backup',
  downloaded: 'Backup downloaded.',
}
