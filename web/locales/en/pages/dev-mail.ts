/** Holds the messages of the inbox of a service without a mail server. */
export const devMailMessages = {
  title: 'Development mail',
  lead: 'This service has no mail server, so its mails appear here. Only this computer can open this page.',
  count: (count: number) => (count === 1 ? '1 mail' : `${count} mails`),
  empty: 'No mail yet',
  emptyHint: 'Verify an e-mail address or invite a member: the mail appears here at once.',
  failed: 'The service can’t be reached. This page keeps trying.',
  to: 'To',
  code: 'Code',
  setUp: 'Set up mail',
}

/** Holds the messages that say where a mailed code is. */
export const mailNoteMessages = {
  sent: (email: string) => `We sent a code to ${email}. It expires in ten minutes.`,
  notSent: (email: string) => `The code for ${email} is ready. It expires in ten minutes.`,
  notSetUp: 'Mail isn’t set up on this service.',
  read: 'Read the code in the development mail',
  resend: 'Send a new code',
  resendIn: (seconds: number) => `Send a new code in ${seconds} s`,
  resent: 'A new code was sent.',
}
