import type { CDPSession, Page } from 'playwright-core'

type Credential = Awaited<ReturnType<typeof credentialsOf>>[number]
export type Authenticator = Awaited<ReturnType<typeof plugInAuthenticator>>

/** The passkey provider of one tab: virtual, without a dialog, it verifies the person and says yes as soon as asked. */
export async function plugInAuthenticator(page: Page, { prf: prfAtFirst }: { prf: boolean }) {
  let prf = prfAtFirst
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable', { enableUI: false })
  let authenticatorId = await add()

  async function add(): Promise<string> {
    const added = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        hasPrf: prf,
        automaticPresenceSimulation: true,
      },
    })
    return added.authenticatorId
  }

  return {
    /** From now on it does not recognise the person; a virtual one never does again. */
    refuse: () => session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false }),
    /** The passkeys that it holds. */
    credentials: () => credentialsOf(session, authenticatorId),
    /** The next passkey that it drops because the page said so. */
    forgets: () =>
      new Promise<string>((resolve) => {
        session.once('WebAuthn.credentialDeleted', ({ credentialId }) =>
          resolve(Buffer.from(credentialId, 'base64').toString('base64url')),
        )
      }),
    /** Takes in passkeys of another one, as one that syncs does. */
    async take(credentials: Credential[]) {
      for (const credential of credentials)
        await session.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
    /** Brings the passkeys that both have to the state of the other: copies share no counter, as synced ones do. */
    async catchUp(credentials: Credential[]) {
      for (const credential of credentials) {
        await session.send('WebAuthn.removeCredential', { authenticatorId, credentialId: credential.credentialId })
        await session.send('WebAuthn.addCredential', { authenticatorId, credential })
      }
    },
    /** An empty one takes its place: the person has another device at hand. */
    async exchange(manner: { prf: boolean }) {
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      prf = manner.prf
      authenticatorId = await add()
    },
    /** Another one takes its place with the same passkeys, which lose what their PRF gave. */
    async replace() {
      const credentials = await credentialsOf(session, authenticatorId)
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      authenticatorId = await add()
      for (const credential of credentials)
        await session.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
  }
}

async function credentialsOf(session: CDPSession, authenticatorId: string) {
  return (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials
}
