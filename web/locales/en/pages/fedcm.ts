/** Holds the messages of the window that completes a sign-in in a browser dialog. */
export const fedcmMessages = {
  ending: 'Returning to the app…',
  over: 'You’re done',
  overHint: 'Close this window and continue in the app.',
  fault: 'This sign-in can’t continue',
  close: 'Close',
  hint: 'Close this window and try again in the app.',
  /** Has the error code that the browser received as key. */
  hints: {
    expired:
      'The sign-in expired, was already completed, or belongs to another browser. Close this window and try again ' +
      'in the app.',
    access_denied: 'The app needs your consent to sign you in. Close this window and try again in the app.',
    app_access_denied: 'This identity has no access to the app. Close this window and ask the operator for access.',
    unauthorized_client: 'This page doesn’t belong to the app. Close this window and contact the app’s developer.',
    invalid_request: 'The app made an invalid request. Close this window and contact the app’s developer.',
    server_error: 'Something went wrong on our side. Close this window and try again in a moment.',
    temporarily_unavailable: 'The service is busy. Close this window and try again in a moment.',
  },
}
