import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { adminMessages as english } from '../../../en/pages/admin/console.ts'
import { numberOf } from '../../format.ts'

/** Holds the messages of the frame of the operator pages. In Arabic. */
export const adminMessages: typeof english = {
  title: 'التشغيل',
  retry: 'إعادة المحاولة',
  sections: {
    overview: 'نظرة عامة',
    people: 'الأشخاص',
    invitations: 'الدعوات',
    groups: 'المجموعات',
    apps: 'التطبيقات',
    audit: 'سجل التدقيق',
    operators: 'المشغّلون',
    settings: 'الإعدادات',
  },
  roles: { owner: 'مالك', people: 'الأشخاص', apps: 'التطبيقات', auditor: 'مدقّق' },
  actAs: 'التصرّف باسم',
  actingAs: (handle, role) => `أنت تتصرّف باسم ${handle}. الدور: ${role}`,
  none: {
    title: 'ليس لديك دور مشغّل',
    about: 'يدير المشغّلون هذه الخدمة. إذا كان ينبغي أن تكون منهم، فاطلب من أحد المالكين أن يضيفك.',
    back: 'العودة إلى حسابك',
  },
  denied: {
    title: 'لا يمكنك الوصول',
    lacking: 'تنقصك الصلاحية',
    ask: 'اطلب من أحد المالكين دورًا يتضمنها.',
  },
  more: 'عرض المزيد',
  identity: 'اسم المستخدم أو معرّف الهوية',
  actions: 'الإجراءات',
  commandLine: 'من سطر الأوامر',
  refused: {
    group_exists: 'هذا المفتاح مستخدم في مجموعة أخرى.',
    group_not_found: 'هذه المجموعة غير موجودة.',
    too_many_groups: 'بلغ عدد المجموعات حدّه. احذف واحدة أولًا.',
    invalid_import: `هذا ليس ملف ${isolate('CSV')} بهذه الأعمدة، أو فيه أكثر من ${numberOf(5000)} صف.`,
    too_many_invitations: 'بلغ عدد الدعوات المفتوحة حدّه. ألغِ بعضها أولًا.',
    invitation_void: 'هذه الدعوة لاغية. ألغِها وأنشئ دعوة جديدة.',
    invitation_not_mailed: 'استُخدمت هذه الدعوة من قبل، أو هي رابط.',
    setting_fixed_by_environment: 'هذا الإعداد محدّد بمتغيّر بيئة. أعد تحميل الصفحة.',
    setting_revision_not_found: 'لم تعد هذه المراجعة محفوظة.',
    version_mismatch: 'تغيّرت البيانات في هذه الأثناء، ولم يُحفظ شيء. راجع ما يظهر الآن ثم أعد المحاولة.',
    operator_exists: 'لهذه الهوية دور مشغّل بالفعل.',
    operator_not_found: 'أُزيل هذا المشغّل من قبل.',
    too_many_operators: 'بلغ عدد المشغّلين حدّه. أزل واحدًا أولًا.',
    too_many_tokens: 'بلغ عدد رموز الإدارة حدّه. ألغِ واحدًا أولًا.',
    operator_protected: 'هذا حسابك أنت، أو حساب مشغّل له صلاحيات تنقصك.',
    last_owner: 'تحتاج الخدمة وكل مؤسسة إلى مالك. امنح شخصًا آخر هذا الدور أولًا.',
    owns_apps: 'يملك هذا الحساب تطبيقات مسجّلة. يجب حذفها أولًا.',
    identity_not_found: 'هذه الهوية غير موجودة.',
    permission_denied: 'تنقصك الصلاحية لهذا. تواصل مع أحد المالكين.',
  },
}
