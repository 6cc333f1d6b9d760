import type { consoleMessages as english } from '../../../en/pages/organizations/console.ts'

/** Holds the messages of the frame of the organization pages. In German. */
export const consoleMessages: typeof english = {
  title: 'Organisationen',
  retry: 'Erneut versuchen',
  add: 'Neue Organisation',
  joined: (organization) => `Du bist ${organization} beigetreten.`,
  signedActs: {
    title: 'Unterschriebene Änderungen',
    required: 'Admins müssen ihre Änderungen unterschreiben. Das Audit-Log bewahrt die Unterschriften auf.',
    notRequired:
      'Admins mit Signaturschlüssel unterschreiben ihre Änderungen auf diesen Seiten, und das Audit-Log bewahrt die ' +
      'Unterschriften auf. Unterschreiben ist freiwillig.',
    require: 'Unterschriften verlangen',
    letUnsigned: 'Nicht mehr verlangen',
    outcomes: {
      done: (change) => `${change}. Das Audit-Log bewahrt deine Unterschrift auf.`,
      deleted: (change) => `${change}.`,
      declined: () => 'Nichts wurde geändert: Du hast nicht unterschrieben.',
      proposed: () => 'Vorgeschlagen. Bevor es umgesetzt werden kann, müssen andere es freigeben.',
      ended: () => 'Nichts wurde geändert. Nimm die Änderung noch einmal vor, um sie zu unterschreiben.',
    },
  },
  roles: {
    owner: 'Inhaber',
    admin: 'Admin',
    signer: 'Unterzeichner',
    member: 'Mitglied',
    viewer: 'Betrachter',
  },
  sections: {
    overview: 'Übersicht',
    members: 'Mitglieder',
    documents: 'Dokumente',
    council: 'Rat',
    domains: 'Domains',
    sso: 'Single Sign-on',
    directory: 'Verzeichnis-Sync',
    keys: 'Schlüssel',
    settings: 'Einstellungen',
    activity: 'Audit-Log',
  },
  access: 'Zugang',
  switchTo: 'Organisation wechseln',
  switchFrom: (organization, role) => `${organization} Deine Rolle: ${role}. Organisation wechseln`,
  youAre: (role) => `Deine Rolle: ${role}`,
}
