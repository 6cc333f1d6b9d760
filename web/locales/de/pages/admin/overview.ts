import type { adminOverviewMessages as english } from '../../../en/pages/admin/overview.ts'

/** Holds the messages about the state of the service, for operators. In German. */
export const adminOverviewMessages: typeof english = {
  title: 'Übersicht',
  attention: 'Braucht Aufmerksamkeit',
  well: 'Alles funktioniert.',
  version: (version) => `Version ${version}`,
  since: (day) => `Seit: ${day}`,
  failing: 'Fehler',
  warning: 'Warnung',
  checks: {
    database: { title: 'Datenbank', fix: 'Die Datenbank antwortet nicht. Lies das Log des Dienstes.' },
    migrations: {
      title: 'Die Datenbank gehört zu einer anderen Version',
      fix: 'Starte auf allen Rechnern dieselbe Version.',
    },
    clock: { title: 'Zwei Uhren weichen ab', fix: 'Stelle die Uhren von Dienst und Datenbank über NTP.' },
    disk: {
      title: 'Der Datenträger ist fast voll',
      fix: 'Lösche Dateien auf dem Datenträger von DATA_DIR oder vergrößere ihn.',
    },
    mail: { title: 'Es werden keine E-Mails gesendet', fix: 'Setze SMTP_URL und MAIL_FROM.' },
    invitation_mails: {
      title: 'E-Mails von Einladungen scheitern',
      fix: 'Sie werden später noch einmal gesendet. Prüfe den Mailserver und das Log.',
    },
    webhooks: {
      title: 'Webhooks scheitern',
      fix: 'Sie werden später noch einmal gesendet. Prüfe die Zustellungen deiner Apps.',
    },
    audit_log: {
      title: 'Das Audit-Log stockt',
      fix: 'Neue Ereignisse haben darin noch keinen Platz. Lies das Log des Dienstes.',
    },
    sinks: {
      title: 'Empfänger des Audit-Logs erhalten nichts',
      fix: 'Es wird später noch einmal gesendet. Sieh nach mit: countersign sinks list',
    },
    token_signing_keys: {
      title: 'Schlüssel für Token sind überfällig',
      fix: 'Wechsle sie mit: countersign keys rotate',
    },
    backup: {
      title: 'Kein aktuelles Backup',
      fix: 'Erstelle eines und bewahre es auf einem anderen Rechner auf: countersign backup',
    },
    owners: {
      title: 'Ein zweiter Inhaber fehlt',
      fix: 'Füge einen hinzu. Verliert der einzige seine Passkeys, kann niemand mehr Betreiber verwalten.',
    },
    admin_tokens: { title: 'Admin-Tokens laufen bald ab', fix: 'Ersetze die, die noch gebraucht werden.' },
    scim_tokens: { title: 'SCIM-Tokens laufen bald ab', fix: 'Ersetze die von Verzeichnissen, die du nutzt.' },
  },
  numbers: {
    pendingInvitations: 'Offene Einladungen',
    suspendedIdentities: 'Gesperrte Identitäten',
    apps: 'Apps',
    operators: 'Betreiber',
  },
  open: {
    pendingInvitations: 'Einladungen ansehen',
    suspendedIdentities: 'Personen ansehen',
    apps: 'Apps ansehen',
    operators: 'Betreiber ansehen',
  },
  first: 'Erste Schritte',
  steps: {
    invite: { title: 'Personen einladen', why: 'Mit einem Link, per E-Mail oder aus einer Datei.' },
    groups: { title: 'Eine Gruppe erstellen', why: 'Gruppen entscheiden, wer eine App nutzen darf.' },
    owner: { title: 'Einen zweiten Inhaber hinzufügen', why: 'Falls du deine Passkeys verlierst.' },
  },
}
