/** The words of the window that ends a sign-in through the browser. */
export const fedcmEn = {
  ending: 'Back to the app',
  over: 'Done here',
  overHint: 'Close this window and go on in the app.',
  fault: 'This sign-in can’t go on',
  close: 'Close',
  hint: 'Close this window and try again in the app.',
  /** By the code that a browser was told. */
  hints: {
    expired:
      'It expired, was finished before, or belongs to another browser. Close this window and try again in the app.',
    access_denied: 'The app may only sign in who agrees. Close this window and try again in the app.',
    unauthorized_client:
      'The page that asked isn’t one of this app. Close this window; the app’s makers can mend that.',
    invalid_request:
      'The app asked for something that isn’t possible. Close this window; the app’s makers can mend that.',
    server_error: 'Something broke on our side. Close this window and try again in a moment.',
    temporarily_unavailable: 'Too much at once. Close this window and try again in a moment.',
  },
}
