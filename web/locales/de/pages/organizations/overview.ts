import type { overviewMessages as english } from '../../../en/pages/organizations/overview.ts'

/** Holds the messages of the overview of an organization. In German. */
export const overviewMessages: typeof english = {
  lead: (name) => `Was bei ${name} ansteht.`,
  members: (count) => (count === 1 ? 'Mitglied' : 'Mitglieder'),
  invitations: (count) => (count === 1 ? '1 offene Einladung' : `${count} offene Einladungen`),
  owners: (count) => (count === 1 ? '1 Inhaber' : `${count} Inhaber`),
  documents: (count) => (count === 1 ? 'offenes Dokument' : 'offene Dokumente'),
  waiting: (count) =>
    count === 0
      ? 'Nichts wartet auf eine Unterschrift'
      : count === 1
        ? '1 wartet auf eine Unterschrift'
        : `${count} warten auf eine Unterschrift`,
  atLeast: (count) => `${count}+`,
  open: 'Öffnen',
  setup: 'Einrichtung',
  setupDone: (done, all) => `${done} von ${all} erledigt`,
  checks: {
    owners: {
      done: 'Mindestens zwei Inhaber',
      open: 'Zweiten Inhaber ernennen',
      why: 'Verliert eine Person den Zugang, kann die andere noch handeln.',
    },
    domain: {
      done: 'Domain bestätigt',
      open: 'Domain bestätigen',
      why: 'Personen mit Adressen dieser Domain können sich dann über euch anmelden.',
    },
    sso: {
      done: 'Single Sign-on aktiv',
      open: 'Single Sign-on verbinden',
      why: 'Mitglieder melden sich bei eurem Identitätsanbieter an.',
    },
    signing: {
      done: 'Änderungen werden unterschrieben',
      open: 'Unterschriften verlangen',
      why:
        'Jede Änderung durch Admins trägt dann eine Unterschrift, die niemand fälschen kann, ' +
        'auch dieser Dienst nicht.',
    },
    logo: { done: 'Logo vorhanden', open: 'Logo hinzufügen', why: 'Einladungen und Apps zeigen es.' },
  },
  recent: 'Neueste Ereignisse',
  all: 'Audit-Log öffnen',
  yours: 'Deine Rolle',
  mayDo: 'Du darfst',
  signs: 'Deine Unterschrift bindet die Organisation.',
}
