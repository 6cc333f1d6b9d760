import { plural } from '../../plural.ts'
import type { actMessages as english } from '../../en/pages/acts.ts'

const asRole = {
  owner: 'Inhaber',
  admin: 'Admin',
  signer: 'Unterzeichner',
  member: 'Mitglied',
  viewer: 'Betrachter',
}

/** Holds the messages of the page that signs changes in organizations. In German. */
export const actMessages: typeof english = {
  title: 'Änderung unterschreiben',
  acts: {
    'organization.updated': ({ organization }) => `Einstellungen von ${organization} ändern`,
    'organization.deleted': ({ organization }) => `${organization} löschen`,
    'organization.member.updated': ({ organization, what }) => `Berechtigungen von ${what} in ${organization} ändern`,
    'organization.member.removed': ({ organization, what }) => `${what} aus ${organization} entfernen`,
    'organization.invitation.created': ({ organization, what }) => `${what} zu ${organization} einladen`,
    'organization.invitation.revoked': ({ organization, what }) =>
      `Einladung von ${what} zu ${organization} widerrufen`,
    'organization.domain.added': ({ organization, what }) => `Domain ${what} zu ${organization} hinzufügen`,
    'organization.domain.verified': ({ organization, what }) => `Domain ${what} für ${organization} bestätigen`,
    'organization.domain.removed': ({ organization, what }) => `Domain ${what} aus ${organization} entfernen`,
    'organization.key.created': ({ organization }) => `Schlüssel für ${organization} erstellen`,
    'organization.key.shared': ({ organization }) => `Schlüssel von ${organization} mit Mitgliedern teilen`,
    'organization.key.deleted': ({ organization, what }) => `Schlüssel ${what} von ${organization} löschen`,
    'organization.kms.updated': ({ organization }) => `KMS von ${organization} einrichten`,
    'organization.kms.removed': ({ organization }) => `KMS von ${organization} entfernen`,
    'sso.connection.created': ({ organization, what }) => `SSO-Verbindung ${what} zu ${organization} hinzufügen`,
    'sso.connection.updated': ({ organization, what }) => `SSO-Verbindung ${what} von ${organization} ändern`,
    'sso.connection.confirmed': ({ organization, what }) => `SSO-Verbindung ${what} von ${organization} bestätigen`,
    'sso.connection.deleted': ({ organization, what }) => `SSO-Verbindung ${what} von ${organization} löschen`,
    'sso.encryption_key.created': ({ organization, what }) =>
      `SAML-Verschlüsselungsschlüssel für ${what} von ${organization} veröffentlichen`,
    'sso.encryption_key.removed': ({ organization, what }) =>
      `SAML-Verschlüsselungsschlüssel von ${what} von ${organization} entfernen`,
    'scim.token.created': ({ organization, what }) => `SCIM-Token für ${what} von ${organization} erstellen`,
    'scim.token.revoked': ({ organization, what }) => `SCIM von ${what} von ${organization} entfernen`,
    'organization.signatory.admitted': ({ organization, what }) => `${what} in den Rat von ${organization} aufnehmen`,
    'organization.signatory.suspended': ({ organization, what }) => `${what} im Rat von ${organization} suspendieren`,
    'organization.council.reset_requested': ({ organization }) =>
      `Das Ende des Rats von ${organization} ohne seine Freigabe ankündigen`,
    'organization.council.reset': ({ organization }) => `Den Rat von ${organization} ohne seine Freigabe beenden`,
  },
  leave: ({ organization }) => `${organization} verlassen`,
  role: ({ organization, what }, role) => `${what} in ${organization} die Rolle ${asRole[role]} geben`,
  settings: {
    name: ({ organization }, value) => `${organization} in ${value} umbenennen`,
    requireSignedActions: {
      on: ({ organization }) => `Unterschriften für Änderungen in ${organization} verlangen`,
      off: ({ organization }) => `Unterschriften für Änderungen in ${organization} nicht mehr verlangen`,
    },
    approvalsNeeded: {
      found: ({ organization }, count) =>
        plural('de', count, {
          one: `Einen Rat für ${organization} gründen: Jede Unterschrift braucht 1 Freigabe`,
          other: `Einen Rat für ${organization} gründen: Jede Unterschrift braucht ${count} Freigaben`,
        }),
      change: ({ organization }, count) =>
        plural('de', count, {
          one: `Im Rat von ${organization} 1 Freigabe verlangen`,
          other: `Im Rat von ${organization} ${count} Freigaben verlangen`,
        }),
      end: ({ organization }) => `Den Rat von ${organization} beenden`,
    },
    ssoRequired: {
      on: ({ organization }) => `SSO in ${organization} verlangen`,
      off: ({ organization }) => `SSO in ${organization} nicht mehr verlangen`,
    },
  },
  unknown: (action, organization) => `${action} in ${organization}`,
  becomes: 'wird zu',
  whatDeletes: 'Dein Passkey bestätigt die Änderung.',
  what: 'Dein Passkey bestätigt die Änderung, und die Organisation bewahrt deine Unterschrift in ihrem Audit-Log auf.',
  exact: 'Was genau unterschrieben wird',
  exactChange: 'Änderung',
  exactStatement: 'Unterschriebene Erklärung',
  incomplete: 'Nicht alles an dieser Änderung lässt sich in Worten beschreiben. Lies die genauen Daten bis zum Ende.',
  signatories: 'Mitglieder des Rats',
  may: { sign: 'unterschreibt', approve: 'gibt frei', both: 'unterschreibt und gibt frei' },
  ends: {
    founded:
      'Danach können nur diese Personen für die Organisation unterschreiben und freigeben, und sie entscheiden ' +
      'gemeinsam, wer dazukommt.',
    suspended:
      'Sie können für die Organisation nichts mehr unterschreiben oder freigeben. Gegen das Ende des Rats können sie ' +
      'weiterhin Einspruch einlegen.',
    resetRequested:
      'In 14 Tagen kannst du den Rat beenden. Seine Mitglieder erhalten eine E-Mail und können bis dahin Einspruch ' +
      'einlegen.',
    reset:
      'Danach sind keine Freigaben mehr nötig. Belege der Organisation zeigen, dass der Rat auf diese Weise beendet ' +
      'wurde.',
  },
  proposedBy: (who) => `Vorgeschlagen von ${who}.`,
  approving:
    'Dein Passkey bestätigt die Freigabe. Die Änderung wird vorgenommen, sobald genug andere freigegeben haben und ' +
    'die Person unterschreibt, die sie vorgeschlagen hat.',
  approve: 'Freigeben',
  sign: 'Unterschreiben',
  signAndLeave: 'Unterschreiben und austreten',
  signAnd: {
    'organization.deleted': 'Unterschreiben und löschen',
    'organization.member.removed': 'Unterschreiben und entfernen',
    'organization.invitation.created': 'Unterschreiben und einladen',
    'organization.invitation.revoked': 'Unterschreiben und widerrufen',
    'organization.domain.added': 'Unterschreiben und hinzufügen',
    'organization.domain.removed': 'Unterschreiben und entfernen',
    'organization.key.created': 'Unterschreiben und erstellen',
    'organization.key.shared': 'Unterschreiben und teilen',
    'organization.key.deleted': 'Unterschreiben und löschen',
    'sso.connection.created': 'Unterschreiben und hinzufügen',
    'sso.connection.deleted': 'Unterschreiben und löschen',
    'scim.token.created': 'Unterschreiben und erstellen',
    'organization.signatory.admitted': 'Unterschreiben und aufnehmen',
    'organization.signatory.suspended': 'Unterschreiben und suspendieren',
  },
  youSign: 'Du unterschreibst diese Änderung',
  youApprove: 'Du gibst diese Änderung frei',
  signatory:
    'Diese Person ist im Rat. Nimmt ihr die Änderung das Recht, zu unterschreiben oder freizugeben, zählen ihre ' +
    'Unterschriften unter offenen Anfragen nicht mehr.',
  sessionEnded: 'Deine Sitzung ist inzwischen beendet',
  sessionEndedWhy:
    'Eine Änderung lässt sich nur in der Sitzung unterschreiben, in der sie begonnen wurde. Nichts wurde geändert. ' +
    'Geh zurück und nimm die Änderung noch einmal vor.',
  decline: 'Abbrechen',
  codeWhy:
    'Dieser Passkey hat die Änderung bestätigt, kann aber deinen Signaturschlüssel nicht entsperren. Gib deinen ' +
    'Wiederherstellungscode ein; er bleibt gültig.',
  whoAreYouWhy: 'Melde dich an, um die Änderung zu sehen und zu unterschreiben.',
  nothing: 'Hier gibt es nichts zu unterschreiben',
  nothingWhy:
    'Diese Änderung wurde schon vorgenommen, ist abgelaufen oder wurde in einem anderen Browser begonnen. Hier ' +
    'geschieht nichts weiter.',
  back: 'Zurück zur Organisation',
  again: 'Neu beginnen',
  stopped: 'Nichts wurde unterschrieben',
  stoppedWhy: {
    statement:
      'Der Dienst beschreibt diese Änderung anders, als du sie hier gesehen hast. Beginne neu. Wenn das wieder ' +
      'geschieht, unterschreibe nicht und melde es dem Betreiber.',
    clock:
      'Die Uhr dieses Geräts und die des Dienstes weichen um mehr als zehn Minuten voneinander ab. Stelle Datum und ' +
      'Uhrzeit des Geräts automatisch ein und beginne dann neu.',
    outdated:
      'Diese Änderung wurde vor etwas anderem vorbereitet, das du in diesem Browser getan oder gesehen hast. Beginne ' +
      'neu.',
    superseded:
      'Jemand anders hat gleichzeitig etwas geändert. Prüfe, ob deine Änderung noch nötig ist, und beginne neu.',
    changed: 'Was du ändern wolltest, hat inzwischen jemand anders geändert. Prüfe es und beginne neu.',
    expired:
      'Die fünf Minuten für diese Änderung sind vorbei, oder sie wurde schon vorgenommen. Prüfe es und beginne neu.',
  },
  results: {
    'organization.invitation.created': {
      title: 'Einladung erstellt',
      what:
        'Kopiere diesen Link jetzt und sende ihn. Er wird nicht noch einmal angezeigt und gilt nur für die ' +
        'eingeladene Person.',
    },
    'scim.token.created': {
      title: 'SCIM-Token erstellt',
      what: 'Trage beide Werte in eurem Verzeichnis ein. Das Token wird nicht noch einmal angezeigt.',
    },
  },
  values: { link: 'Einladungslink', address: 'SCIM-Basis-URL', token: 'Token' },
  done: 'Fertig',
}
