/** Holds the messages of the start page. */
export const landingMessages = {
  title: 'Sign in with your own hand',
  lead:
    'One passkey instead of passwords. Apps see only the identity you choose. And when something matters, you sign ' +
    'exactly what you read.',
  register: 'Create account',
  login: 'Sign in',
  playground: 'Try it in a minute',
  playgroundShort: 'Playground',
  guides: 'Guides',
  /** An example of a consent, as a picture. */
  example: {
    label: 'Example: Ada Lovelace signs in to the app Orrery, which gets her name and username but no e-mail address',
    signInTo: 'Sign in to',
    name: 'Name',
    username: 'Username',
    email: 'E-mail',
    notShared: 'Not shared',
    approved: 'Allowed with a passkey',
  },
  proofs: {
    label: 'What it does',
    passkey: {
      title: 'No passwords',
      text: 'Your fingerprint, face or device PIN. Nothing to remember, and nothing for others to steal.',
    },
    identities: {
      title: 'As many identities as you need',
      text: 'Work, private, pen name. Apps can’t tell that they belong together.',
    },
    signatures: {
      title: 'Signatures that hold',
      text: 'Payments, contracts, approvals: read, sign, keep the receipt. Anyone can verify it.',
    },
  },
  developers: {
    title: 'For developers',
    lead:
      'Standard OpenID Connect, so your library works as it is. Signing, delegation and end-to-end keys are one ' +
      'more call.',
    points: [
      'Authorization code flow with PKCE, discovery, refresh tokens, FedCM',
      'Request a signature and verify it on your own server',
      'Self-hosted: one process, with its own database or your PostgreSQL',
    ],
    register: 'Register app',
    guides: 'Read the guides',
    codeName: 'request-a-signature.mjs',
  },
  organizations: {
    title: 'For organizations',
    lead:
      'Members and roles, your own single sign-on, documents that need several signatures, and an audit log that ' +
      'proves who did what.',
    open: 'Open organizations',
  },
}
