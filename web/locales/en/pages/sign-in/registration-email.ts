/** Holds the messages about proving an e-mail address before a registration. */
export const registrationEmailMessages = {
  email: 'E-mail',
  lead: 'Start with your e-mail address. Only addresses of certain domains can register.',
  address: 'E-mail address',
  invalid: 'Enter a full e-mail address, such as ada@example.com.',
  send: 'Send code',
  enterCode: 'Check your e-mail',
  code: 'Code',
  verify: 'Continue',
  otherAddress: 'Use another address',
  /** Has the error code as key. */
  refused: {
    email_domain_not_allowed:
      'Addresses of this domain can’t register here. Use another one, or ask for an invitation.',
    email_verification_required: 'Your e-mail address must be verified again.',
  },
}
