import { plural } from '../../plural.ts'
import type { businessMessages as english } from '../../en/pages/business.ts'
import { organizationSecurityMessages } from './business-security.ts'
import { consoleMessages } from './organizations/console.ts'

/** Holds the messages of the organization pages. In German. */
export const businessMessages: typeof english = {
  ...consoleMessages,
  ...organizationSecurityMessages,
  account: 'Dein Konto',
  noneTitle: 'Noch keine Organisation',
  none: 'Du bist noch in keiner Organisation. Erstelle eine oder lass dich einladen.',
  addWhat: 'Ladet euer Team ein, unterschreibt gemeinsam und entscheidet, wie sich alle anmelden.',
  create: 'Organisation erstellen',
  name: 'Name',
  nameInvalid: 'Gebt einen Namen mit höchstens 80 Zeichen ein.',
  ownAs: 'Welcher Identität gehört die Organisation?',
  unknown: 'Organisation nicht gefunden',
  unknownWhy: 'Sie wurde gelöscht, oder du bist kein Mitglied mehr.',
  save: 'Speichern',
  saved: 'Gespeichert.',
  approvals: {
    needed: 'Erforderliche Freigaben',
    neededHint: 'Wie viele weitere Mitglieder des Rats jede Unterschrift und jede Änderung des Rats freigeben müssen.',
    invalid: (most) => `Gebt eine Zahl von 0 bis ${most} ein.`,
    first: (count) =>
      plural('de', count, {
        one:
          '1 weiteres Mitglied des Rats muss das freigeben. Du schlägst es jetzt vor und unterschreibst nach der ' +
          'Freigabe.',
        other:
          `${count} weitere Mitglieder des Rats müssen das freigeben. Du schlägst es jetzt vor und unterschreibst ` +
          'nach den Freigaben.',
      }),
    admission:
      'Der Rat muss ein Mitglied aufnehmen, bevor es unterschreiben oder freigeben kann. Das schlägst du unter „Rat“ ' +
      'vor.',
  },

  rolesWhat: {
    owner: 'Darf alles, auch Inhaber ernennen und die Organisation löschen.',
    admin: 'Unterschreibt, lädt Mitglieder ein, entfernt sie und verwaltet Schlüssel, Domains und SSO.',
    signer: 'Unterschreibt für die Organisation und gibt Unterschriften anderer frei.',
    member: 'Verwendet Apps für die Organisation. Unterschreibt und verwaltet nichts.',
    viewer: 'Sieht die Organisation und ihre Mitglieder. Verwendet Apps, die Betrachter zulassen.',
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
    'Das Mitglied verliert sofort den Zugriff auf die Organisation, in allen Apps. Es kann mit einer neuen ' +
    'Einladung wieder beitreten, oder über euer SSO, wenn es dort zugelassen ist.',
  removeNow: 'Mitglied entfernen',
  leaveTitle: (organization) => `Aus ${organization} austreten?`,
  leaveWhat:
    'Du verlierst sofort den Zugriff, in allen Apps. Du kannst mit einer neuen Einladung wieder beitreten, ' +
    'oder über das SSO der Organisation, wenn du dort zugelassen bist.',
  leaveNow: 'Aus Organisation austreten',
  invitations: 'Einladungen',
  invite: 'Einladen',
  inviteNow: 'Einladen',
  invitees: 'Benutzername oder E-Mail-Adresse',
  inviteesInvalid: 'Gebt einen Benutzernamen oder eine E-Mail-Adresse ein.',
  link:
    'Kopiert diesen Link jetzt und sendet ihn. Er wird nicht noch einmal angezeigt und gilt nur für die eingeladene ' +
    'Person.',
  done: 'Fertig',
  until: (day) => `gültig bis ${day}`,
  withdraw: 'Widerrufen',
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
      'Das Audit-Log verknüpft alle Ereignisse zu einer Kette. Bewahrt jeden Export auf: Ein späterer zeigt, ob der ' +
      'Dienst frühere Ereignisse geändert oder entfernt hat.',
    saveTrail: 'Ganzes Audit-Log exportieren',
  },

  settingsLead: 'Name, Logo und Regeln der Organisation.',
  details: 'Angaben',
  slug: 'URL-Name',
  slugHint: 'Für URLs: Kleinbuchstaben, Ziffern und Bindestriche.',
  logo: 'Logo-URL',
  logoSha256: 'SHA-256 des Logos',
  invalid: {
    name: 'Gebt einen Namen mit höchstens 80 Zeichen ein.',
    slug: 'Kleinbuchstaben, Ziffern und Bindestriche. Kein Bindestrich am Anfang oder Ende.',
  },

  deletion: {
    title: 'Organisation löschen',
    what: 'Alle Mitglieder verlieren sofort den Zugriff, in allen Apps. Das lässt sich nicht rückgängig machen.',
    confirm: (name) => `${name} löschen?`,
    forever: 'Apps behalten die Daten, die sie bereits haben.',
    typeName: (name) => `Zur Bestätigung „${name}“ eingeben`,
    mismatch: 'Das ist nicht der Name der Organisation.',
    now: 'Organisation endgültig löschen',
  },
}
