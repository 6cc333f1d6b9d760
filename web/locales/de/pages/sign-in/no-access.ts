import type { noAccessMessages as english } from '../../../en/pages/sign-in/no-access.ts'

/** Holds the messages for an identity that may not use the app. In German. */
export const noAccessMessages: typeof english = {
  noAccess: (handle, app) => `@${handle} hat keinen Zugang zu ${app}`,
  askContact: (contact) => `Kontakt für den Zugang: ${contact}`,
  askOperator: 'Bitte den Betreiber um Zugang.',
  otherIdentity: 'Andere Identität verwenden',
}
