/** Holds the messages of the overview of an organization. */
export const overviewMessages = {
  lead: (name: string) => `What is going on at ${name}.`,
  members: (count: number): string => (count === 1 ? 'member' : 'members'),
  invitations: (count: number) => (count === 1 ? '1 open invitation' : `${count} open invitations`),
  owners: (count: number) => (count === 1 ? '1 owner' : `${count} owners`),
  documents: (count: number): string => (count === 1 ? 'open document' : 'open documents'),
  waiting: (count: number) =>
    count === 0
      ? 'Nothing waits for a signature'
      : count === 1
        ? '1 waits for a signature'
        : `${count} wait for a signature`,
  atLeast: (count: number) => `${count}+`,
  open: 'Open',
  setup: 'Setup',
  setupDone: (done: number, all: number) => `${done} of ${all} done`,
  checks: {
    owners: {
      done: 'Two or more owners',
      open: 'Name a second owner',
      why: 'If one loses access, the other can still act.',
    },
    domain: {
      done: 'Domain verified',
      open: 'Verify a domain',
      why: 'Colleagues with its addresses can then sign in through you.',
    },
    sso: {
      done: 'Single sign-on in use',
      open: 'Connect single sign-on',
      why: 'Members sign in with your identity provider.',
    },
    signing: {
      done: 'Changes are signed',
      open: 'Require signed changes',
      why: 'Each change by an admin then carries a signature that no one can forge, not even this service.',
    },
    logo: { done: 'Logo set', open: 'Add a logo', why: 'Invitations and apps show it.' },
  },
  recent: 'Recent events',
  all: 'Open the audit log',
  yours: 'Your role',
  mayDo: 'You can',
  signs: 'Your signature binds the organization.',
}
