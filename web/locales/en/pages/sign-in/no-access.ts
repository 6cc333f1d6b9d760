/** Holds the messages for an identity that may not use the app. */
export const noAccessMessages = {
  noAccess: (handle: string, app: string) => `@${handle} has no access to ${app}`,
  askContact: (contact: string) => `Contact for access: ${contact}`,
  askOperator: 'Ask the operator for access.',
  otherIdentity: 'Use another identity',
}
