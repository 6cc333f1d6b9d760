import { plural } from '../plural.ts'

/** Holds the messages for signing a text or an admin action. */
export const signMessages = {
  sign: {
    title: 'Your signature',
    asks: 'Asks for your signature',
    demonstration: 'This is a demo. The signature won’t be used for anything.',
    notConnected: 'You’ve never used this app. Sign only if you know why it asks.',
    text: 'Text you’re signing',
    exactly: 'You sign exactly this',
    lines: (count: number) => plural('en', count, { one: '1 line', other: `${count} lines` }),
    checked: 'Checked: no hidden or look-alike characters.',
    left: (time: string) => `${time} left`,
    key: (handle: string, key: string) => `${handle} · signing key ${key}`,
    byPasskey: 'Sign with your passkey',
    about: 'What a signature does',
    aboutWhat: (app: string) =>
      `${app} gets this text with a signature that only your key can make. Anyone can verify it later without asking ` +
      'us. You keep a receipt.',
    timeLeft: 'Time left',
    soonOver: 'Less than a minute left',
    sign: 'Sign',
    deny: 'Deny',
    readOn: 'Read to the end to sign.',
    unreadable: 'This isn’t readable text, only a code. If you sign it, you can’t know what you agree to.',
    reserved: (service: string) =>
      `This isn’t a text for people. It is a message that makes ${service} itself act, for example change a key. ` +
      'You can’t sign it here.',
    news: {
      signatures: 'The signatures changed. Check them, then decide.',
      key: 'Your signing key was replaced. You sign with the new one.',
    },
    insist: 'Continue anyway',
    stopped: 'Nothing was signed',
    stoppedWhy: {
      statement:
        'The service describes this request differently from what you saw here. Reload the page and read it again. ' +
        'If this happens again, don’t sign and tell the operator.',
      changed:
        'The app, the request or your username changed while you were signing. Reload the page and read it again.',
      clock:
        'The clock of this device and the clock of the service differ by more than ten minutes. Set the date and ' +
        'time of the device automatically, then reload the page.',
    },
    reload: 'Reload',
    codeWhy:
      'None of the passkeys on this device can unlock your signing key. Enter your recovery code; it stays valid.',
    whoAreYou: 'Sign in to continue',
    whoAreYouWhy: 'An app requests your signature. Sign in to see the text.',
    inAWindow: 'Open in a new window',
    inAWindowWhy: (service: string) =>
      `You read and sign in a separate window of ${service}, where nothing can cover the text.`,
    unknownTitle: 'Nothing to sign here',
    unknownWhy: 'This request is for someone else or no longer exists.',
    ends: {
      signed: 'Signed',
      denied: 'Denied',
      expired: 'Expired',
    },
    endsWhat: {
      signed: 'The app has your signature.',
      denied: 'The app was notified that you denied the request.',
      expired: 'The request expired without a signature. The app can ask again.',
    },
    ofOrganization: {
      asks: (organization: string) => `Asks for the signature of ${organization}`,
      notConnected: 'No member has used this app for the organization. Sign only if you know why it asks.',
      approve: 'Approve',
      by: {
        sign: (handle: string) => `signed by ${handle}`,
        approve: (handle: string) => `approved by ${handle}`,
      },
      approvals: (count: number, needed: number) => `Approvals: ${count} of ${needed}`,
      did: {
        sign: (who: string) => `${who} signed`,
        approve: (who: string) => `${who} approved`,
      },
      somebody: 'Someone',
      done: {
        sign: 'You signed',
        approve: 'You approved',
      },
      waitsFor: (organization: string) =>
        `Waiting for other members of ${organization}. The app gets the signature once the required members have ` +
        'signed and approved.',
      approveInstead: 'Approve instead',
      approveInsteadWhy:
        'Another member signed too, but approvals are missing. If you approve, that replaces your signature.',
      denyAfterAll: 'Deny the request',
    },
    closeThis: 'You can close this window.',
    saveReceipt: 'Download receipt',
  },
}
