/** The words of the pages of organizations, in English. */
export const businessEn = {
  title: 'Organizations',
  account: 'Your account',
  retry: 'Try again',
  none: 'You are in no organization yet. Somebody who invites you sends you a link.',
  add: 'New organization',
  create: 'Create the organization',
  name: 'Name',
  nameInvalid: '1 to 80 characters that one can see.',
  ownAs: 'As which of your names do you own it?',
  unknown: 'There is no such organization',
  unknownWhy: 'It was deleted, or you are no longer in it.',
  save: 'Save',
  saved: 'Saved.',

  roles: { owner: 'Owner', admin: 'Administrator', signer: 'Signer', member: 'Member', viewer: 'Viewer' },

  sections: { settings: 'Settings' },

  slug: 'Short name',
  slugHint: 'It stands in addresses: small letters, digits and hyphens.',
  logo: 'Logo',
  logoHint: 'An address that begins with https. Apps show it.',
  invalid: {
    name: '1 to 80 characters that one can see.',
    slug: 'Small letters, digits and hyphens, none of them at an end.',
    logoUrl: 'An address that begins with https://.',
  },

  deletion: {
    title: 'Delete the organization',
    what: 'Its members lose it at once, in every app, and nothing of it comes back.',
    confirm: (name: string) => `Delete ${name}?`,
    forever: 'Apps no longer know it. What they keep of it themselves stays with them.',
    typeName: (name: string) => `Write “${name}”`,
    mismatch: 'This is not the name of the organization.',
    now: 'Delete for ever',
  },
}
