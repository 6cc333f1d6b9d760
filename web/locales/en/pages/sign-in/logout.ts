/** Holds the messages for signing out. */
export const logoutMessages = {
  title: 'Sign out',
  question: 'Sign out?',
  who: 'This browser is signed in to this account:',
  signOut: 'Sign out',
  stay: 'Stay signed in',
  signedOut: 'You’re signed out',
  elsewhere: 'You may still be signed in to some apps.',
  refused: 'The app asked to send you to an address it hasn’t registered, so you stay here.',
  signInAgain: 'Sign in again',
  home: 'Go to the start page',
  leaving: (host: string) => `Signed out. Returning to ${host}…`,
}
