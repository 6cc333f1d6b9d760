import { verifySignature } from '@countersign/sdk/server'

/**
 * The payments of one person: what they owe, and what became of it. A payment is `open`, `asked` while the person is to
 * sign it, and `paid` in the end; a refusal leaves it open, with the reason.
 */
export function createPayments() {
  const payments = new Map(
    [
      { number: '2026-0114', payee: 'Paper Shop', account: 'DE89 3704 0044 0532 0130 00', cents: 24_000 },
      { number: '2026-0115', payee: 'Turing Machines Ltd', account: 'GB29 NWBK 6016 1331 9268 19', cents: 189_950 },
    ].map((payment) => [payment.number, { ...payment, state: 'open' }]),
  )

  return {
    list: () => [...payments.values()],
    find: (number) => payments.get(number),
    ask: (payment, request) => Object.assign(payment, { state: 'asked', request, reason: undefined }),
    reopen: (payment, reason) => Object.assign(payment, { state: 'open', request: undefined, reason }),
    /**
     * The only way to pay. Whoever calls must show a signature over the text of this very payment, by the key that was
     * named when it was asked for; and a payment is paid once. The approval was verified when the signature came.
     */
    pay(payment, { payload, signature, approval }) {
      const { state, request } = payment
      if (state !== 'asked') throw new Error(`Payment ${payment.number} does not wait for a signature`)
      if (payload !== textOf(payment)) throw new Error('What was signed is not this payment')
      if (!verifySignature({ payload, signature, publicKey: request.publicKey })) throw new Error('Invalid signature')
      Object.assign(payment, {
        state: 'paid',
        request: undefined,
        evidence: { payload, signature, publicKey: request.publicKey, approval },
      })
    },
  }
}

/** What the person reads and signs. Its number makes it the text of one payment alone, and so of one approval. */
export function textOf({ number, payee, account, cents }) {
  return `Pay ${euros(cents)} to ${payee}\nAccount: ${account}\nPayment: ${number}`
}

export function euros(cents) {
  return `€${(cents / 100).toLocaleString('en', { minimumFractionDigits: 2 })}`
}
