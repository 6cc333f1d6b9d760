import type { signinMessages as english } from '../en/signin.ts'

/** Holds the messages for signing in to an app: SSO, consent and delegation. In German. */
export const signinMessages: typeof english = {
  signin: {
    choose: 'Identität wählen',
    otherAccount: 'Anderes Konto verwenden',
    requiresSso: (organization) => `${organization} verlangt eine Anmeldung mit SSO`,
    continueWith: (organization) => `Weiter mit ${organization}`,
    approve: 'Erlauben',
    deny: 'Ablehnen',
    change: 'Ändern',
    returnTo: (host) => `Danach geht es zurück zu ${host}`,
    addEmail: 'E-Mail-Adresse hinzufügen',
    leaving: (host) => `Zurück zu ${host}\u00a0…`,
  },

  scopes: {
    openid: 'ID',
    openidValue: 'Eine feste ID, damit die App dich wiedererkennt',
    name: 'Name',
    handle: 'Benutzername',
    email: 'E-Mail',
    noEmail: 'Keine für diese Identität; wird nicht geteilt',
    offline_access: 'Zugriff',
    offline_accessValue: 'Bis du die App trennst, auch wenn du sie nicht verwendest',
    user_id: 'Konto-ID',
    user_idValue: 'Gleich für alle deine Identitäten; Apps erkennen, dass sie zu einer Person gehören',
    groups: 'Gruppen',
    groupsValue: 'Deine Gruppen, soweit der Betreiber sie der App zeigt',
    roles: 'Rollen',
    rolesValue: 'Deine Rollen in der App',
    encryption: 'Verschlüsselung',
    symmetricValue: 'Mit deinem Schlüssel, den dieser Dienst nicht lesen kann',
    asymmetricValue:
      'Mit deinem Schlüsselpaar, das dieser Dienst nicht lesen kann; deinen öffentlichen Schlüssel finden alle über ' +
      'den Benutzernamen',
  },
}
