/** Holds the messages of the frame of all pages and of signing out. */
export const frameMessages = {
  frame: {
    language: 'Language',
    languageIs: (name: string) => `Language: ${name}`,
    theme: 'Theme',
    themes: { system: 'System', light: 'Light', dark: 'Dark' },
    homeOf: (name: string) => `${name} home`,
    skip: 'Skip to content',
    help: 'Help',
    terms: 'Terms',
    privacy: 'Privacy',
    imprint: 'Imprint',
    support: 'Support',
    status: 'Status',
    areas: 'Areas',
    sections: 'Sections',
    mainSections: 'Main sections',
    account: 'Account',
    identities: 'Identities',
    security: 'Security',
    signOut: 'Sign out',
    accountMenu: (name: string) => `Account menu: ${name}`,
    waiting: 'waiting',
    waitingSignatures: (count: number) =>
      count === 0
        ? 'No signing requests waiting'
        : count === 1
          ? '1 signing request waiting'
          : `${count} signing requests waiting`,
    more: 'More',
    previous: 'Previous',
    next: 'Next',
    undo: 'Undo',
    close: 'Close',
    /** Stands before the host. */
    youAreAt: 'You are at',
    moment: 'Loading…',
    retry: 'Try again',
    cancel: 'Cancel',
    copy: 'Copy',
    copyWhat: (what: string) => `Copy ${what}`,
    copied: 'Copied',
    organizations: 'Organizations',
    developers: 'Developers',
    operator: 'Operator',
  },
}
