/** Holds the messages about what permits a registration. */
export const admissionMessages = {
  setup: 'This service has no operator yet. With this account, you become its owner.',
  invited: 'You’re invited.',
  invitedAs: (email: string) => `You’re invited with the address ${email}.`,
  chosenLead: 'Your device creates a passkey, so there is no password.',
  chosen: 'The operator chose these names. You can change them later.',
  addIdentity: 'Add identity',
  further: (name: string, handle: string) => `It is added to the account of ${name} (${handle}).`,
  useTitle: 'Who is the owner?',
  use: (name: string, handle: string) => `Use ${name} (${handle})`,
  refused: {
    registration_closed: { title: 'Registration is closed', lead: 'If you have an account, sign in.' },
    invitation_required: { title: 'You need an invitation', lead: 'Ask the operator of this service for one.' },
    setup_done: { title: 'Already set up', lead: 'This service has an operator. Ask them for a role.' },
    setup_link_expired: { title: 'This link has expired', lead: 'Restart the service: each start creates a new link.' },
    invitation_expired: {
      title: 'This invitation is no longer valid',
      lead: 'It was used or revoked, or has expired. Ask for a new one.',
    },
  },
}
