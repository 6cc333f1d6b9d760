import type { invitationMessages as english } from '../../../en/pages/organizations/invitation.ts'

/** Holds the messages of the page of an invitation. In German. */
export const invitationMessages: typeof english = {
  domainRequired: 'Dein Konto muss die Adresse dieser Identität behalten. Tritt mit einer anderen bei.',
  title: (organization) => `${organization} beitreten`,
  invites: (inviter, role) => `${inviter} lädt dich ein. Deine Rolle: ${role}.`,
  sentTo: 'Gesendet an',
  role: 'Deine Rolle',
  expires: 'Gültig bis',
  expiresIn: (days, day) => `Noch ${days}, bis ${day}`,
  register: 'Konto erstellen und beitreten',
  login: 'Anmelden und beitreten',
  provesEmail: (email) => `Der Link in deiner E-Mail bestätigt auch ${email}: Du brauchst keinen Code.`,
  needsEmail: (email) => `Tritt mit einer Identität bei, deren bestätigte Adresse ${email} ist.`,
  needsHandle: (handle) => `Die Einladung ist für @${handle}.`,
  ignore: 'Nicht erwartet? Dann ignoriere die Einladung.',
  as: 'Beitreten als',
  join: (name) => `Als ${name} beitreten`,
  addsEmail: (email, handle) => `${email} wird die bestätigte Adresse von @${handle}.`,
  replacesEmail: (email, before) => `${email} ersetzt ${before}, die bisherige Adresse.`,
  otherAccount: 'Anderes Konto verwenden',
  signedInAs: (handle) => `Du bist als @${handle} angemeldet.`,
  identities: 'Identitäten verwalten',
  over: 'Diese Einladung ist nicht mehr gültig',
  overWhat: 'Sie wurde angenommen oder widerrufen oder ist abgelaufen. Bitte um eine neue.',
  organizations: 'Deine Organisationen',
}
