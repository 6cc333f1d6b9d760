/** The words of the pages on which keys of organizations are shared. */
export const organizationKeysEn = {
  title: 'Keys of an organization',
  titles: {
    make: (organization: string) => `Make a new key for ${organization}`,
    share: (organization: string) => `Share the keys of ${organization}`,
    prepare: (organization: string) => `Get ready for the keys of ${organization}`,
  },
  what: {
    make: 'It is made in this browser, and all members get it. We can’t read it.',
    share: 'They get the keys that they don’t have yet. Nobody else can open them, nor can we.',
    prepare: 'You get them sealed to a key of your own. This name has none yet: it is made in this browser.',
  },
  now: {
    make: 'Make it with your passkey',
    share: 'Share them with your passkey',
    prepare: 'Make it with your passkey',
  },
  unprepared: 'These can’t get any yet, without a key of their own. Send them their address: they make it there.',
  codeWhy: 'This passkey can’t open your keys.',
  nothing: 'There is nothing to do here.',
  back: 'Go back',
}
