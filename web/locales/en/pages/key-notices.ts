/** Holds what pages say when a check of the user's keys finds something. */
export const keyNoticesMessages = {
  stopped: 'Don’t continue',
  nothingDone: 'Nothing was signed, and no key was handed over.',
  causes: {
    key: {
      title: 'A key isn’t yours',
      what:
        'The service names a signing key for one of your identities that this browser can’t open with your ' +
        'keys. So you haven’t created it. Someone could sign with it as you.',
    },
    history: {
      title: 'The history of your key changed',
      what:
        'The public log of keys no longer shows what it showed before about one of your identities, or shows a ' +
        'second history.',
    },
    log: {
      title: 'The log of keys isn’t the same',
      what: 'The service shows another public log than before. It can then show you one key, and apps another.',
    },
    promise: {
      title: 'Your key isn’t in the log',
      what: 'You created a key more than a day ago. The public log doesn’t contain it, although it should.',
    },
    record: {
      title: 'Your record is missing or old',
      what:
        'This browser checks your keys with a record that only you can open. The service shows no record, an ' +
        'old one, or one that doesn’t open.',
    },
    change: {
      title: 'Someone else changed your key',
      what:
        'The person who changed your key could unlock your keys: with one of your passkeys, your recovery code or an ' +
        'unlocked device.',
    },
    trail: {
      title: 'The organization’s audit log changed',
      what:
        'The service shows another audit log of this organization than this browser has seen before: ' +
        'something was removed, added or altered afterwards.',
    },
    newer: {
      title: 'This page is out of date',
      what: 'A newer version of these pages checked your keys before. Load the page again.',
    },
    unreachable: {
      title: 'Your keys can’t be checked',
      what:
        'For more than a day, the service hasn’t answered what this browser needs to check your keys. Until it ' +
        'does, your keys stay locked here.',
    },
  },
  doTitle: 'What to do',
  steps: {
    stop: 'Don’t sign anything, and don’t open encrypted data through this service for now.',
    save: 'Save the evidence. It also stays in this browser.',
    contact:
      'Contact the people who run this service in a way that you know: by phone or in person, not with a link ' +
      'from a message. At work, also tell your security team. Give them the file.',
    secure:
      'On another device, remove passkeys and sign out sessions that you don’t know. Then replace the recovery ' +
      'code and your signing key.',
    reload: 'Load this page again.',
    later: 'Try again later. If it stays like this, contact the people who run this service.',
  },
  download: 'Save the evidence',
  contents:
    'The file contains the ID of your identity and answers of the service. It contains no secret keys and no ' +
    'texts. Check it with the command countersign verify-evidence.',
  trailContents:
    'The file contains entries of the organization’s audit log as the service answered them, and what this browser ' +
    'remembered. It contains no secret keys and no details of changes.',
  reload: 'Load again',
  code: 'Code',
  changes: {
    title: 'Your keys changed',
    lead: 'Since you last unlocked your keys in this browser:',
    replaced: (handle: string) => `The signing key of @${handle} was replaced`,
    created: (handle: string) => `A signing key was created for @${handle}`,
    removed: (handle: string) => `The identity @${handle} was deleted`,
    at: (moment: string) => `on ${moment}`,
    question: 'Was that you?',
    yes: 'Yes, continue',
    no: 'No, stop',
  },
  unchecked:
    'Your keys couldn’t be checked: the service didn’t answer in time. You can continue. If it stays like this ' +
    'for a day, your keys stay locked in this browser.',
}
