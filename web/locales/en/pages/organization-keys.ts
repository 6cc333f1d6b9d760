/** Holds the messages of the page that creates and shares organization keys. */
export const organizationKeyMessages = {
  title: 'Organization keys',
  titles: {
    make: (organization: string) => `Create a new key for ${organization}`,
    share: (organization: string) => `Share the keys of ${organization}`,
    prepare: (organization: string) => `Set up your key for ${organization}`,
  },

  what: {
    make:
      'The key is created in this browser and shared with these members. Members who don’t have an encryption key ' +
      'yet get it later. We can’t read it.',
    share: 'These members get the keys they are missing. Nobody else, including us, can read them.',
    prepare:
      'Organization keys are encrypted to your own key. This identity doesn’t have one yet, so it is created in ' +
      'this browser now.',
  },

  alone: 'The key is created in this browser. You’re the only member so far. We can’t read it.',

  now: {
    make: 'Create key',
    share: 'Share keys',
    prepare: 'Create key',
  },

  unprepared: 'These members don’t have an encryption key yet. Send them this link so they can create one.',
  codeWhy: 'This passkey can’t unlock your keys.',
  nothing: 'Nothing to do here.',
  back: 'Back',
}
