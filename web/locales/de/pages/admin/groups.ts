import type { adminGroupsMessages as english } from '../../../en/pages/admin/groups.ts'

/** Holds the messages about groups, for operators. In German. */
export const adminGroupsMessages: typeof english = {
  title: 'Gruppen',
  lead: 'Gruppen entscheiden, wer eine App verwenden darf. Apps sehen sie im Claim „groups“.',
  back: 'Alle Gruppen',
  add: 'Neue Gruppe',
  create: 'Gruppe erstellen',
  none: 'Noch keine Gruppen',
  example:
    'Beispiel: eine Gruppe mit dem Schlüssel „eng“. Nur ihre Mitglieder dürfen Apps verwenden, die sie verlangen.',
  key: 'Schlüssel',
  keyHint: 'Ihr Name in Claims. Er ändert sich nie.',
  keyProblem: 'Erlaubt sind Kleinbuchstaben, Ziffern und . _ : / -. Am Anfang steht ein Buchstabe oder eine Ziffer.',
  name: 'Name',
  nameHint: 'Betreiber sehen ihn.',
  protected: { label: 'Geschützt', about: 'Nur Inhaber ändern sie und ihre Mitglieder.' },
  edit: {
    open: 'Bearbeiten\u00a0…',
    title: (name) => `${name} bearbeiten`,
    nameProblem: 'Erlaubt ist eine Zeile mit höchstens 80 Zeichen.',
    protection: 'Schutz',
    save: 'Speichern',
    saved: 'Gruppe gespeichert.',
  },
  members: 'Mitglieder',
  noMembers: 'Noch keine Mitglieder',
  fromProvider: 'Der Identitätsanbieter einer Organisation nennt sie, wenn sie sich anmelden.',
  addMember: 'Mitglied hinzufügen',
  memberMissing: 'Gib einen Benutzernamen oder eine ID ein.',
  added: 'Mitglied hinzugefügt.',
  remove: 'Entfernen',
  removeTitle: (name) => `${name} entfernen`,
  removeWhat: 'Die Person verliert den Zugriff auf Apps, die nur diese Gruppe verwenden darf. Ihre Aktivität zeigt es.',
  removed: (name) => `${name} wurde entfernt.`,
  delete: {
    what: 'Apps, die nur diese Gruppe verwenden darf, sind danach für alle geschlossen.',
    open: 'Gruppe löschen\u00a0…',
    title: (name) => `${name} löschen`,
    now: 'Gruppe löschen',
    done: (name) => `${name} wurde gelöscht.`,
  },
}
