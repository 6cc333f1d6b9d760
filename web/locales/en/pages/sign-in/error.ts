import { formatWait } from '../../../locale.ts'

/** Holds the messages for error pages. */
export const errorMessages = {
  forDevelopers: 'For the app’s developer',
  home: 'Go to the start page',
  backTo: (host: string) => `Back to ${host}`,
  settings: 'Add it in the app’s settings',
  openSettings: 'Open the app’s settings',
  nothingReceived: 'No redirect_uri',
  facts: { error: 'Error', reason: 'Reason', clientId: 'Client ID', redirectUri: 'Received' },
  unregistered: (app: string) =>
    `${app} sent you here with a return address that it hasn’t registered. You’re safe: nothing was shared. The ` +
    'app’s developer can fix this.',
  nowhereToReturn: (app: string) =>
    `${app} sent you here without a return address. You’re safe: nothing was shared. The app’s developer can fix this.`,
  deactivated: (service: string) => `Contact your administrator. Your ${service} account hasn’t changed.`,
  stuck: 'Still stuck? Tell the operator of this service, and quote this reference ID:',
  /** Has the error code as key. */
  titles: {
    not_found: 'Page not found',
    invalid_client: 'App not available',
    invalid_redirect_uri: 'This sign-in can’t continue',
    invalid_request_uri: 'This sign-in has expired',
    invalid_sso_flow: 'This sign-in has expired',
    sso_connection_unavailable: 'SSO isn’t available',
    sso_denied: 'Your organization denied the sign-in',
    sso_user_deactivated: 'Your organization has deactivated your access',
    account_suspended: 'This account is suspended',
    sso_response_invalid: 'Invalid response from your organization',
    sso_response_mismatch: 'This response belongs to another sign-in',
    sso_provider_error: 'Your organization’s sign-in isn’t working',
    sso_provider_timeout: 'Your organization’s sign-in isn’t responding',
    too_many_pending: 'Too many open requests',
    rate_limited: 'Too many requests',
    request_not_found: 'Signing request not found',
    server_error: 'Something went wrong on our side',
    temporarily_unavailable: 'Service temporarily unavailable',
  },
  title: 'Something went wrong',
  rateLimited: (seconds: number) => `Wait ${formatWait(seconds, 'en')} and try again.`,
  /** Has the error code as key. Other errors show the description that the server sends. */
  hints: {
    not_found: 'Check the address or go to the start page.',
    invalid_client:
      'The app that sent you here isn’t registered at this service, or is disabled. Nothing was shared. Tell its ' +
      'developer.',
    invalid_redirect_uri:
      'The app sent you here with a return address that it hasn’t registered. Nothing was shared. Tell its developer.',
    invalid_request_uri: 'It expired or was already used. Go back to the app and sign in again.',
    invalid_sso_flow: 'It expired, was already used, or started in another browser. Go back and start again.',
    sso_connection_unavailable: 'Your organization turned it off. Contact your administrator.',
    sso_denied: 'Try again with your work account, or contact your administrator.',
    account_suspended: 'The operator of this service suspended it. Contact the operator.',
    sso_response_invalid:
      'We stopped for your security. Your administrator can see the reason in the organization’s audit log.',
    sso_response_mismatch: 'We stopped for your security. Go back and start again.',
    sso_provider_error: 'Try again in a moment. Your administrator can see the reason in the organization’s audit log.',
    sso_provider_timeout:
      'Try again in a moment. Your administrator can see the reason in the organization’s audit log.',
    too_many_pending: 'Too many of your devices ask to be unlocked. Wait a few minutes and try again.',
    request_not_found: 'The link doesn’t lead to a signing request. Go back to the app and try again.',
    server_error: 'Try again in a moment. If it happens again, send the reference ID below to the operator.',
    temporarily_unavailable: 'Try again in a moment.',
  },
}
