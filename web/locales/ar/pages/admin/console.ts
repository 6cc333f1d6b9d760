import type { adminMessages as english } from '../../../en/pages/admin/console.ts'

/** Holds the messages of the frame of the operator pages. In Arabic. */
export const adminMessages: typeof english = {
  title: 'التشغيل',
  retry: 'إعادة المحاولة',
  sections: {
    people: 'الأشخاص',
    invitations: 'الدعوات',
    groups: 'المجموعات',
    apps: 'التطبيقات',
    audit: 'سجل التدقيق',
    operators: 'المشغّلون',
  },
  roles: { owner: 'مالك', people: 'الأشخاص', apps: 'التطبيقات', auditor: 'مدقّق' },
  actAs: 'التصرّف باسم',
  actingAs: (handle, role) => `أنت تتصرّف باسم ${handle}. الدور: ${role}`,
  none: {
    title: 'لست مشغّلًا',
    about: 'يدير المشغّلون هذه الخدمة. إن كان ينبغي أن تكون منهم، فاطلب من مالك أن يضيفك.',
    back: 'العودة إلى حسابك',
  },
  denied: {
    title: 'لا يمكنك الوصول',
    lacking: 'تنقصك الصلاحية',
    ask: 'اطلب من مالك دورًا يملكها.',
  },
  more: 'عرض المزيد',
  identity: 'اسم المستخدم أو معرّف الهوية',
  actions: 'الإجراءات',
  commandLine: 'من سطر الأوامر',
  refused: {
    group_exists: 'لمجموعة أخرى هذا المفتاح.',
    group_not_found: 'هذه المجموعة غير موجودة.',
    too_many_groups: 'بلغ عدد المجموعات حدّه. احذف واحدة أولًا.',
    invitation_not_mailed: 'استُخدمت هذه الدعوة من قبل، أو هي رابط.',
    operator_exists: 'هذه الهوية مشغّل بالفعل.',
    operator_not_found: 'أُزيل هذا المشغّل من قبل.',
    too_many_operators: 'بلغ عدد المشغّلين حدّه. أزل واحدًا أولًا.',
    too_many_tokens: 'بلغ عدد رموز الإدارة حدّه. أبطل واحدًا أولًا.',
    operator_protected: 'هذا حسابك أنت، أو مشغّل له صلاحيات تنقصك.',
    last_owner: 'تحتاج الخدمة إلى مالك. امنح شخصًا آخر هذا الدور أولًا.',
    identity_not_found: 'هذه الهوية غير موجودة.',
    permission_denied: 'تنقصك الصلاحية لهذا. اسأل أحد المالكين.',
  },
}
