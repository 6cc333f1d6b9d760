import type { ssoMessages as english } from '../../../en/pages/sign-in/sso.ts'

/** Holds the messages for signing in with the SSO of an organization. In German. */
export const ssoMessages: typeof english = {
  title: 'Mit deiner Organisation anmelden',
  lead: 'Gib deine berufliche Adresse ein. Ihre Domain führt zur Anmeldung deiner Firma.',
  email: 'Berufliche E-Mail-Adresse',
  goOn: 'Weiter',
  unknownDomain: 'Für diese E-Mail-Domain ist kein SSO eingerichtet.',
  connectTitle: 'Konto verknüpfen',
  says: (organization, person) => `Laut ${organization} bist du ${person}`,
  connectOnce: (organization) => `Bestätige einmal mit deinem Passkey. Danach meldet dich ${organization} an.`,
  membersOnly: (organization) => `Du musst Mitglied von ${organization} sein. Bitte um eine Einladung.`,
  over: 'Diese Anmeldung ist beendet',
  beginAgain: 'Der Link ist abgelaufen oder wurde schon verwendet. Geh zurück und beginne neu.',
  tested: 'Testanmeldung erfolgreich',
  testedLead: (organization) =>
    `Das hat der Identitätsanbieter von ${organization} gesendet. Es wurde kein Konto verknüpft.`,
  subject: 'Subject',
  address: 'E-Mail',
  name: 'Name',
  nothing: 'keine Angabe',
  verified: (email) => `${email}, bestätigt`,
  unverified: (email) => `${email}, nicht bestätigt`,
  unverifiedHint:
    'Automatisch beitreten kann nur, wessen E-Mail-Adresse der Anbieter als bestätigt kennzeichnet. Lade alle ' +
    'anderen ein.',
  toOrganizations: 'Zu deinen Organisationen',
  confirmTitle: 'Anmeldung bestätigen',
  confirmAs: (person, organization) => `Weiter als ${person} von ${organization}?`,
  signedInAs: (person, handle) => `Du bist als ${person} (@${handle}) angemeldet.`,
  signsOut: (handle, other) =>
    `Wenn du fortfährst, ist dieser Browser als @${handle} angemeldet und ${other} hier abgemeldet.`,
  startedElsewhere: 'Ein Link oder eine andere Website hat diese Anmeldung gestartet.',
  signsIn: (handle) =>
    `Wenn du fortfährst, ist dieser Browser als @${handle} angemeldet. Brich ab, wenn du das nicht bist.`,
  continueAs: (person) => `Weiter als ${person}`,
  stayAs: (person) => `Als ${person} angemeldet bleiben`,
  cancel: 'Abbrechen',
  leaveTitle: (host) => `Weiter zu ${host}?`,
  leaveLead: (organization, host) =>
    `Eine andere Website hat eine Anmeldung mit ${organization} gestartet. Sie führt zu ${host}.`,
  leaveWarning: (host) =>
    `Diese Anmeldung ist nicht bestätigt. Fahre nur fort, wenn du ${host} kennst. Gib dort nie das Passwort eines ` +
    'anderen Dienstes ein.',
  leaveTo: (host) => `Weiter zu ${host}`,
}
