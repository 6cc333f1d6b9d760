import type { Page } from 'playwright-core'

export type Authenticator = Awaited<ReturnType<typeof plugInAuthenticator>>

/** The passkey provider of one tab: virtual, without a dialog, it verifies the person and says yes as soon as asked. */
export async function plugInAuthenticator(page: Page, { prf }: { prf: boolean }) {
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
    /** Another one takes its place with the same passkeys, which lose what their PRF gave. */
    async replace() {
      const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId })
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      authenticatorId = await add()
      for (const credential of credentials)
        await session.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
  }
}
