/** Holds the messages for signing in to an app: SSO, consent and delegation. */
export const signinMessages = {
  /** Is a part of the messages of a sign-in: pages of other kinds need it too. */
  signin: {
    choose: 'Choose an identity',
    otherAccount: 'Use another account',
    requiresSso: (organization: string) => `${organization} requires you to sign in with SSO`,
    continueWith: (organization: string) => `Continue with ${organization}`,
    approve: 'Allow',
    deny: 'Deny',
    change: 'Change',
    returnTo: (host: string) => `You’ll return to ${host}`,
    addEmail: 'Add an e-mail address',
    leaving: (host: string) => `Returning to ${host}…`,
  },

  scopes: {
    openid: 'ID',
    openidValue: 'A permanent ID, so the app recognizes you next time',
    name: 'Name',
    handle: 'Username',
    email: 'E-mail',
    noEmail: 'None for this identity; won’t be shared',
    offline_access: 'Access',
    offline_accessValue: 'Until you disconnect the app, also when you’re not using it',
    user_id: 'Account ID',
    user_idValue: 'The same for all your identities, so apps can tell they belong to one person',
    groups: 'Groups',
    groupsValue: 'Your groups, as far as the operator shares them with the app',
    roles: 'Roles',
    rolesValue: 'Your roles in the app',
    encryption: 'Encryption',
    symmetricValue: 'With your key, which this service can’t read',
    asymmetricValue:
      'With your key pair, which this service can’t read; anyone can look up your public key by username',
  },
}
