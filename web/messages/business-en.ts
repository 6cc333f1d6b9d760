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

  sections: { domains: 'Domains', settings: 'Settings' },

  domains: {
    what:
      'A verified domain shows that its addresses are yours: whoever comes through your own sign-in with one of them ' +
      'joins without an invitation.',
    domain: 'Domain',
    hint: 'Such as example.com.',
    claim: 'Add the domain',
    pending: 'Not verified yet. Publish this record in the DNS of the domain, then check it.',
    verified: (day: string) => `Verified: ${day}. Its record has to stay in the DNS.`,
    failing: (day: string) => `The record is gone. Unless you put it back, the domain counts until ${day} only.`,
    record: 'The record',
    recordName: 'TXT record',
    recordValue: 'Value',
    check: 'Check now',
    remove: 'Remove',
    removeTitle: (domain: string) => `Remove ${domain}?`,
    removeWhat: 'Nobody joins by an address at it any more, and another organization may verify it.',
    removePending: 'Its record counts for nothing then. If you add the domain again, it gets another one.',
    removeNow: 'Remove it',
    verdicts: {
      invalid: 'A domain looks like example.com.',
      public: 'Anybody may have a name or a mailbox under this domain.',
      claimed: 'This domain is in the list already.',
      'too many': 'There are fifty domains already. Remove one first.',
      taken: 'Another organization has verified this domain.',
      unanswered: 'The name servers of this domain don’t answer. Try again in a moment.',
      nothing: 'There is no such record yet. A new one may take an hour to be seen.',
      'other text': 'There is a TXT record with this name, but its value is another one.',
      alias: 'There is a CNAME with this name. The TXT record must be there itself.',
    },
  },

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
