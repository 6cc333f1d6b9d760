import type { businessMessages as english } from '../../en/pages/business.ts'
import { organizationSecurityMessages } from './business-security.ts'

/** Holds the messages of the organization pages. In German. */
export const businessMessages: typeof english = {
  ...organizationSecurityMessages,
  title: 'Organisationen',
  account: 'Dein Konto',
  retry: 'Noch einmal versuchen',
  none: 'Du bist noch in keiner Organisation. Erstelle eine oder lass dich einladen.',
  add: 'Neue Organisation',
  create: 'Organisation erstellen',
  name: 'Name',
  nameInvalid: 'Gib einen Namen mit höchstens 80 Zeichen ein.',
  ownAs: 'Welcher Identität gehört die Organisation?',
  unknown: 'Organisation nicht gefunden',
  unknownWhy: 'Sie wurde gelöscht, oder du bist kein Mitglied mehr.',
  save: 'Speichern',
  saved: 'Gespeichert.',
  approvals: {
    needed: 'Erforderliche Freigaben',
    neededHint: 'Wie viele weitere Mitglieder des Rats jede Unterschrift und jede Änderung des Rats freigeben müssen.',
    invalid: (most) => `Gib eine Zahl von 0 bis ${most} ein.`,
  },

  signedActs: {
    title: 'Unterschriebene Verwaltungsaktionen',
    required: 'Admins müssen ihre Änderungen unterschreiben. Das Audit-Log bewahrt die Unterschriften auf.',
    notRequired:
      'Admins mit Signaturschlüssel unterschreiben ihre Änderungen auf diesen Seiten, und das Audit-Log bewahrt die ' +
      'Unterschriften auf. Unterschreiben ist freiwillig.',
    require: 'Unterschriften verlangen',
    letUnsigned: 'Unterschriften freistellen',
    outcomes: {
      done: (change) => `${change}. Das Audit-Log bewahrt deine Unterschrift auf.`,
      deleted: (change) => `${change}.`,
      declined: () => 'Nichts wurde geändert: Du hast nicht unterschrieben.',
      proposed: () => 'Vorgeschlagen. Bevor es umgesetzt werden kann, müssen andere freigeben.',
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
    members: 'Mitglieder',
    council: 'Rat',
    domains: 'Domains',
    sso: 'SSO',
    keys: 'Schlüssel',
    settings: 'Einstellungen',
    activity: 'Audit-Log',
  },

  rolesWhat: {
    owner: 'Voller Zugriff, auch Löschen der Organisation und Ernennen von Inhabern.',
    admin: 'Verwaltet Mitglieder, Schlüssel, Domains und SSO.',
    signer: 'Unterschreibt und gibt frei im Namen der Organisation.',
    member: 'Verwendet Apps im Namen der Organisation.',
    viewer: 'Kann die Organisation und ihre Mitglieder ansehen.',
  },

  scopes: {
    read: 'Organisation und Mitglieder ansehen',
    sign: 'Für die Organisation unterschreiben',
    approve: 'Unterschriften freigeben',
    manage_identities: 'Mitglieder einladen, bearbeiten und entfernen',
    manage_keys: 'Schlüssel verwalten',
    manage_sso: 'Domains und SSO verwalten',
    manage_org: 'Einstellungen ändern und Audit-Log ansehen',
  },

  role: 'Rolle',
  mayDo: 'Berechtigungen',
  authority: 'Zeichnungsberechtigung',
  hasAuthority: 'Darf für die Organisation unterschreiben',
  authorityWhat: 'Apps sehen, dass die Unterschrift dieses Mitglieds die Organisation bindet.',
  since: (day) => `seit ${day}`,
  ask: {
    change: (handle) => `@${handle} bearbeiten`,
    remove: (handle) => `@${handle} entfernen`,
    leave: (handle) => `Als @${handle} austreten`,
  },

  change: 'Bearbeiten',
  remove: 'Entfernen',
  leave: 'Austreten',
  changeTitle: (name) => `Berechtigungen von ${name}`,
  removeTitle: (name) => `${name} entfernen?`,
  removeWhat:
    'Das Mitglied verliert sofort den Zugriff auf die Organisation, in allen Apps. Ihr könnt es wieder einladen.',
  removeNow: 'Mitglied entfernen',
  leaveTitle: (organization) => `Aus ${organization} austreten?`,
  leaveWhat: 'Du verlierst sofort den Zugriff, in allen Apps. Für die Rückkehr brauchst du eine neue Einladung.',
  leaveNow: 'Aus Organisation austreten',
  invitations: 'Einladungen',
  invite: 'Mitglied einladen',
  inviteNow: 'Einladung erstellen',
  whom: 'Benutzername oder E-Mail-Adresse',
  nobody: 'Kein Nutzer mit diesem Benutzernamen.',
  whomInvalid: 'Gib einen Benutzernamen oder eine E-Mail-Adresse ein.',
  link:
    'Kopiere diesen Link jetzt und sende ihn. Er wird nicht noch einmal angezeigt und gilt nur für die eingeladene ' +
    'Person.',
  done: 'Fertig',
  until: (day) => `gültig bis ${day}`,
  withdraw: 'Zurückziehen',
  joining: {
    title: (organization) => `${organization} beitreten`,
    invites: (who, role) => `${who} hat dich als ${role} eingeladen.`,
    as: 'Identität wählen',
    accept: (name) => `Als ${name} beitreten`,
    forAnother:
      'Diese Einladung gilt einem anderen Benutzernamen oder einer anderen E-Mail-Adresse. Füge diese Adresse ' +
      'zuerst hinzu und bestätige sie.',
    names: 'Identitäten verwalten',
    over: 'Diese Einladung ist nicht mehr gültig',
    askAgain: 'Sie wurde angenommen, zurückgezogen oder ist abgelaufen. Bitte um eine neue.',
  },

  trail: {
    show: 'Filter',
    kinds: {
      all: 'Alle Ereignisse',
      'organization.member': 'Mitglieder',
      'organization.invitation': 'Einladungen',
      'organization.domain': 'Domains',
      sso: 'SSO',
      scim: 'SCIM',
    },
    nothing: 'Noch keine Ereignisse dieser Art.',
    saveAs: {
      csv: 'Als CSV exportieren',
      jsonl: 'Als JSON Lines exportieren',
    },
    trailWhy:
      'Die Prüfkette verbindet alle Ereignisse zu einer Kette. Bewahrt jeden Export auf: Ein späterer zeigt, ob der ' +
      'Dienst frühere Ereignisse geändert oder entfernt hat.',
    saveTrail: 'Prüfkette exportieren',
  },

  slug: 'URL-Name',
  slugHint: 'Für URLs: Kleinbuchstaben, Ziffern und Bindestriche.',
  logo: 'Logo-URL',
  logoHint: 'Muss mit https:// beginnen. Apps zeigen dieses Logo.',
  invalid: {
    name: 'Gib einen Namen mit höchstens 80 Zeichen ein.',
    slug: 'Kleinbuchstaben, Ziffern und Bindestriche. Kein Bindestrich am Anfang oder Ende.',
    logoUrl: 'Gib eine URL ein, die mit https:// beginnt.',
  },

  deletion: {
    title: 'Organisation löschen',
    what: 'Alle Mitglieder verlieren sofort den Zugriff, in allen Apps. Das lässt sich nicht rückgängig machen.',
    confirm: (name) => `${name} löschen?`,
    forever: 'Apps behalten die Daten, die sie bereits haben.',
    typeName: (name) => `Gib zur Bestätigung „${name}“ ein`,
    mismatch: 'Das ist nicht der Name der Organisation.',
    now: 'Organisation endgültig löschen',
  },
}
