/** Holds the messages for a page that still shows an account which is no longer signed in. */
export const changedMessages = {
  title: 'Another account is signed in',
  what: 'You signed in to another account in this browser. This page still shows the earlier one, and can’t change it.',
  typed: 'Reload the page to see the account that is signed in. Copy what you typed here first: reloading clears it.',
  reload: 'Reload',
  /** Stands where the page shows why something was not done. */
  refused: 'Not done: this browser is now signed in to another account. Reload the page.',
}
