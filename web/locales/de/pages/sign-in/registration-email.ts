import type { registrationEmailMessages as english } from '../../../en/pages/sign-in/registration-email.ts'

/** Holds the messages about proving an e-mail address before a registration. In German. */
export const registrationEmailMessages: typeof english = {
  email: 'E-Mail',
  lead: 'Beginne mit deiner E-Mail-Adresse. Nur Adressen bestimmter Domains sind zugelassen.',
  address: 'E-Mail-Adresse',
  invalid: 'Gib eine vollständige E-Mail-Adresse ein, etwa ada@example.com.',
  send: 'Code senden',
  enterCode: 'Sieh in deine E-Mails',
  code: 'Code',
  verify: 'Weiter',
  otherAddress: 'Andere Adresse verwenden',
  refused: {
    email_domain_not_allowed:
      'Adressen dieser Domain können sich hier nicht registrieren. Nimm eine andere, oder bitte um eine Einladung.',
    email_verification_required: 'Deine E-Mail-Adresse muss noch einmal bestätigt werden.',
  },
}
