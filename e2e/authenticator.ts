import type { Page } from 'playwright-core'

export type Authenticator = Awaited<ReturnType<typeof plugInAuthenticator>>

/**
 * The passkey provider of one tab, virtual and without a dialog: it verifies the person and says yes as soon as it is
 * asked, unless it is told otherwise.
 */
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

  async function readCredentials() {
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId })
    return credentials
  }

  return {
    readCredentials,
    /** Whether it answers at once. Where it does not, a passkey on offer in an input stays on offer. */
    answerAtOnce: (enabled: boolean) =>
      session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
    /** From now on it does not recognise the person; a virtual one never does again. */
    refuse: () => session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false }),
    /** Another one takes its place with the same passkeys, which lose what their PRF gave. */
    async replace() {
      const credentials = await readCredentials()
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      authenticatorId = await add()
      for (const credential of credentials)
        await session.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
  }
}
