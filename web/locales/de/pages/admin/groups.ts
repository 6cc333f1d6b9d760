import type { adminGroupsMessages as english } from '../../../en/pages/admin/groups.ts'

/** Holds the messages about groups, for operators. In German. */
export const adminGroupsMessages: typeof english = {
  title: 'Gruppen',
  lead: 'Gruppen entscheiden, wer eine App nutzen darf. Apps erfahren sie aus dem Claim groups.',
  back: 'Alle Gruppen',
  add: 'Neue Gruppe',
  create: 'Gruppe anlegen',
  none: 'Noch keine Gruppen',
  example: 'Beispiel: eine Gruppe mit dem Schlüssel eng. Eine App, die sie nennt, ist nur für ihre Mitglieder offen.',
  key: 'Schlüssel',
  keyHint: 'Ihr Name in Claims. Er ändert sich nie.',
  keyProblem: 'Erlaubt sind Kleinbuchstaben, Ziffern und . _ : / -. Am Anfang steht ein Buchstabe oder eine Ziffer.',
  name: 'Name',
  nameHint: 'Betreiber sehen ihn.',
  members: 'Mitglieder',
  noMembers: 'Noch keine Mitglieder',
  addMember: 'Mitglied hinzufügen',
  memberMissing: 'Gib einen Benutzernamen oder eine ID ein.',
  added: 'Mitglied hinzugefügt.',
  remove: 'Entfernen',
  removeTitle: (name) => `${name} entfernen`,
  removeWhat: 'Der Zugriff auf Apps, die nur diese Gruppe nutzen darf, endet. Die Aktivität der Person zeigt es.',
  removed: (name) => `${name} wurde entfernt.`,
  delete: {
    what: 'Eine eingeschränkte App, die nur diese Gruppe nennt, ist danach für alle geschlossen.',
    open: 'Gruppe löschen …',
    title: (name) => `${name} löschen`,
    now: 'Gruppe löschen',
    done: (name) => `${name} wurde gelöscht.`,
  },
}
