/* SPDX-License-Identifier: BSD-3-Clause */
/* Pods, as the templates of jobs describe them: core/v1 PodTemplateSpec. */
#include "mpijob/schema/schema.h"

#define STRING(field)                                                                                                  \
    {                                                                                                                  \
        .name = field, .type = MUR_TYPE_STRING                                                                         \
    }
#define STRINGS(field)                                                                                                 \
    {                                                                                                                  \
        .name = field, .type = MUR_TYPE_STRINGS                                                                        \
    }
#define BOOLEAN(field)                                                                                                 \
    {                                                                                                                  \
        .name = field, .type = MUR_TYPE_BOOLEAN                                                                        \
    }
#define INTEGER(field)                                                                                                 \
    {                                                                                                                  \
        .name = field, .type = MUR_TYPE_INTEGER                                                                        \
    }
#define NATURAL(field)                                                                                                 \
    {                                                                                                                  \
        .name = field, .type = MUR_TYPE_INTEGER, .has_minimum = true                                                   \
    }
#define NEEDED(field)                                                                                                  \
    {                                                                                                                  \
        .name = field, .type = MUR_TYPE_STRING, .is_required = true                                                    \
    }
#define IDLE(field, form, reason)                                                                                      \
    {                                                                                                                  \
        .name = field, .type = form, .use = MUR_USE_IDLE, .why = reason                                                \
    }
#define REFUSED(field, form, reason)                                                                                   \
    {                                                                                                                  \
        .name = field, .type = form, .use = MUR_USE_REFUSED, .why = reason                                             \
    }
#define ONE_NODE  "there is one machine to run on"
#define NO_IMAGES "images are directories, or the machine itself"
#define RIGHTS    "pods run with what mpijob itself may, in namespaces of their own"
#define NO_PROBES "a container is ready when it runs"

static const struct mur_field key_ref_fields[] = {NEEDED("key"), STRING("name"), BOOLEAN("optional"), {0}};
static const struct mur_field field_ref_fields[] = {NEEDED("fieldPath"), STRING("apiVersion"), {0}};
static const struct mur_field resource_ref_fields[] = {
    NEEDED("resource"), STRING("containerName"), {.name = "divisor", .type = MUR_TYPE_QUANTITY}, {0}};
static const struct mur_field value_from_fields[] = {
    {.name = "fieldRef", .type = MUR_TYPE_OBJECT, .fields = field_ref_fields},
    {.name = "resourceFieldRef", .type = MUR_TYPE_OBJECT, .fields = resource_ref_fields},
    {.name = "configMapKeyRef", .type = MUR_TYPE_OBJECT, .fields = key_ref_fields},
    {.name = "secretKeyRef", .type = MUR_TYPE_OBJECT, .fields = key_ref_fields},
    {0},
};
static const struct mur_field env_fields[] = {
    NEEDED("name"),
    STRING("value"),
    {.name = "valueFrom", .type = MUR_TYPE_OBJECT, .fields = value_from_fields},
    {0},
};
static const struct mur_field source_ref_fields[] = {STRING("name"), BOOLEAN("optional"), {0}};
static const struct mur_field env_from_fields[] = {
    STRING("prefix"),
    {.name = "configMapRef", .type = MUR_TYPE_OBJECT, .fields = source_ref_fields},
    {.name = "secretRef", .type = MUR_TYPE_OBJECT, .fields = source_ref_fields},
    {0},
};
static const struct mur_field mount_fields[] = {
    NEEDED("name"),
    NEEDED("mountPath"),
    BOOLEAN("readOnly"),
    STRING("subPath"),
    REFUSED("subPathExpr", MUR_TYPE_STRING, "write the path itself as subPath"),
    IDLE("mountPropagation", MUR_TYPE_STRING, "mounts are not passed on"),
    IDLE("recursiveReadOnly", MUR_TYPE_STRING, "a mount that is read only is so as a whole"),
    {0},
};
static const struct mur_field resources_fields[] = {
    {.name = "limits", .type = MUR_TYPE_QUANTITY_MAP},
    {.name = "requests", .type = MUR_TYPE_QUANTITY_MAP},
    REFUSED("claims", MUR_TYPE_OBJECTS, "there are no resource claims"),
    {0},
};
static const struct mur_field security_fields[] = {
    {.name = "runAsUser", .type = MUR_TYPE_INTEGER, .has_minimum = true, .maximum = 2147483647},
    {.name = "runAsGroup", .type = MUR_TYPE_INTEGER, .has_minimum = true, .maximum = 2147483647},
    BOOLEAN("runAsNonRoot"),
    IDLE("fsGroup", MUR_TYPE_INTEGER, "volumes belong to the container's user"),
    IDLE("fsGroupChangePolicy", MUR_TYPE_STRING, "volumes belong to the container's user"),
    IDLE("supplementalGroups", MUR_TYPE_ANY, RIGHTS),
    IDLE("privileged", MUR_TYPE_BOOLEAN, RIGHTS),
    IDLE("capabilities", MUR_TYPE_OBJECT, RIGHTS),
    IDLE("allowPrivilegeEscalation", MUR_TYPE_BOOLEAN, RIGHTS),
    IDLE("seccompProfile", MUR_TYPE_OBJECT, RIGHTS),
    IDLE("seLinuxOptions", MUR_TYPE_OBJECT, RIGHTS),
    IDLE("appArmorProfile", MUR_TYPE_OBJECT, RIGHTS),
    IDLE("windowsOptions", MUR_TYPE_OBJECT, RIGHTS),
    IDLE("procMount", MUR_TYPE_STRING, RIGHTS),
    REFUSED("readOnlyRootFilesystem", MUR_TYPE_BOOLEAN, "a pod's root can be written"),
    REFUSED("sysctls", MUR_TYPE_OBJECTS, "the machine's settings are left alone"),
    {0},
};
static const struct mur_field port_fields[] = {
    {.name = "containerPort",
     .type = MUR_TYPE_INTEGER,
     .is_required = true,
     .has_minimum = true,
     .minimum = 1,
     .maximum = 65535},
    STRING("name"),
    {.name = "protocol", .type = MUR_TYPE_STRING, .words = "TCP|UDP|SCTP"},
    IDLE("hostPort", MUR_TYPE_INTEGER, "ports are not forwarded"),
    IDLE("hostIP", MUR_TYPE_STRING, "ports are not forwarded"),
    {0},
};
static const struct mur_field container_fields[] = {
    NEEDED("name"),
    STRING("image"),
    STRINGS("command"),
    STRINGS("args"),
    STRING("workingDir"),
    {.name = "env", .type = MUR_TYPE_OBJECTS, .fields = env_fields},
    {.name = "envFrom", .type = MUR_TYPE_OBJECTS, .fields = env_from_fields},
    {.name = "resources", .type = MUR_TYPE_OBJECT, .fields = resources_fields},
    {.name = "volumeMounts", .type = MUR_TYPE_OBJECTS, .fields = mount_fields},
    {.name = "securityContext", .type = MUR_TYPE_OBJECT, .fields = security_fields},
    {.name = "ports", .type = MUR_TYPE_OBJECTS, .fields = port_fields},
    {.name = "imagePullPolicy",
     .type = MUR_TYPE_STRING,
     .words = "Always|IfNotPresent|Never",
     .use = MUR_USE_IDLE,
     .why = NO_IMAGES},
    IDLE("stdin", MUR_TYPE_BOOLEAN, "input is empty"),
    IDLE("stdinOnce", MUR_TYPE_BOOLEAN, "input is empty"),
    IDLE("tty", MUR_TYPE_BOOLEAN, "output is a pipe"),
    IDLE("livenessProbe", MUR_TYPE_OBJECT, NO_PROBES),
    IDLE("readinessProbe", MUR_TYPE_OBJECT, NO_PROBES),
    IDLE("startupProbe", MUR_TYPE_OBJECT, NO_PROBES),
    IDLE("terminationMessagePath", MUR_TYPE_STRING, "the end of a container is told by its exit code"),
    IDLE("terminationMessagePolicy", MUR_TYPE_STRING, "the end of a container is told by its exit code"),
    IDLE("resizePolicy", MUR_TYPE_OBJECTS, "limits stay as they are"),
    REFUSED("lifecycle", MUR_TYPE_OBJECT, "nothing is run before or after a container"),
    REFUSED("restartPolicy", MUR_TYPE_STRING, "only pods have one"),
    REFUSED("volumeDevices", MUR_TYPE_OBJECTS, "devices are not handed out"),
    {0},
};
static const struct mur_field item_fields[] = {NEEDED("key"), NEEDED("path"), NATURAL("mode"), {0}};
static const struct mur_field empty_dir_fields[] = {
    {.name = "medium", .type = MUR_TYPE_STRING, .words = "|Memory"},
    {.name = "sizeLimit", .type = MUR_TYPE_QUANTITY},
    {0},
};
static const struct mur_field host_path_fields[] = {
    NEEDED("path"),
    {.name = "type",
     .type = MUR_TYPE_STRING,
     .words = "|Directory|DirectoryOrCreate|File|FileOrCreate|Socket|CharDevice|BlockDevice"},
    {0},
};
static const struct mur_field config_volume_fields[] = {
    STRING("name"),
    {.name = "items", .type = MUR_TYPE_OBJECTS, .fields = item_fields},
    {.name = "defaultMode", .type = MUR_TYPE_INTEGER, .has_minimum = true, .maximum = 0777},
    BOOLEAN("optional"),
    {0},
};
static const struct mur_field secret_volume_fields[] = {
    STRING("secretName"),
    {.name = "items", .type = MUR_TYPE_OBJECTS, .fields = item_fields},
    {.name = "defaultMode", .type = MUR_TYPE_INTEGER, .has_minimum = true, .maximum = 0777},
    BOOLEAN("optional"),
    {0},
};
#define NO_VOLUME "volumes are emptyDir, hostPath, configMap and secret"
static const struct mur_field volume_fields[] = {
    NEEDED("name"),
    {.name = "emptyDir", .type = MUR_TYPE_OBJECT, .fields = empty_dir_fields},
    {.name = "hostPath", .type = MUR_TYPE_OBJECT, .fields = host_path_fields},
    {.name = "configMap", .type = MUR_TYPE_OBJECT, .fields = config_volume_fields},
    {.name = "secret", .type = MUR_TYPE_OBJECT, .fields = secret_volume_fields},
    REFUSED("persistentVolumeClaim", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("nfs", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("projected", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("downwardAPI", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("csi", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("ephemeral", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("image", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("awsElasticBlockStore", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("azureDisk", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("azureFile", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("cephfs", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("cinder", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("fc", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("flexVolume", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("flocker", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("gcePersistentDisk", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("gitRepo", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("glusterfs", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("iscsi", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("photonPersistentDisk", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("portworxVolume", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("quobyte", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("rbd", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("scaleIO", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("storageos", MUR_TYPE_OBJECT, NO_VOLUME),
    REFUSED("vsphereVolume", MUR_TYPE_OBJECT, NO_VOLUME),
    {0},
};
static const struct mur_field alias_fields[] = {NEEDED("ip"), STRINGS("hostnames"), {0}};
static const struct mur_field spec_fields[] = {
    {.name = "containers", .type = MUR_TYPE_OBJECTS, .fields = container_fields, .is_required = true},
    {.name = "volumes", .type = MUR_TYPE_OBJECTS, .fields = volume_fields},
    {.name = "restartPolicy", .type = MUR_TYPE_STRING, .words = "Always|OnFailure|Never"},
    NATURAL("terminationGracePeriodSeconds"),
    {.name = "securityContext", .type = MUR_TYPE_OBJECT, .fields = security_fields},
    BOOLEAN("hostNetwork"),
    {.name = "hostAliases",
     .type = MUR_TYPE_OBJECTS,
     .fields = alias_fields,
     .use = MUR_USE_REFUSED,
     .why = "all pods have one list of hosts, that of the job"},
    {.name = "initContainers",
     .type = MUR_TYPE_OBJECTS,
     .fields = container_fields,
     .use = MUR_USE_REFUSED,
     .why = "a pod is one container here"},
    REFUSED("ephemeralContainers", MUR_TYPE_OBJECTS, "a pod is one container here"),
    {.name = "activeDeadlineSeconds",
     .type = MUR_TYPE_INTEGER,
     .has_minimum = true,
     .minimum = 1,
     .use = MUR_USE_REFUSED,
     .why = "set runPolicy.activeDeadlineSeconds, which is about the whole job"},
    REFUSED("hostPID", MUR_TYPE_BOOLEAN, "a pod sees its own processes"),
    REFUSED("hostIPC", MUR_TYPE_BOOLEAN, "a pod has its own shared memory"),
    REFUSED("shareProcessNamespace", MUR_TYPE_BOOLEAN, "a pod is one container here"),
    REFUSED("hostname", MUR_TYPE_STRING, "a pod's host name is that of the pod"),
    REFUSED("subdomain", MUR_TYPE_STRING, "a pod's domain is that of the job"),
    REFUSED("setHostnameAsFQDN", MUR_TYPE_BOOLEAN, "a pod's host name is that of the pod"),
    REFUSED("hostnameOverride", MUR_TYPE_STRING, "a pod's host name is that of the pod"),
    REFUSED("resources", MUR_TYPE_OBJECT, "set those of the container"),
    REFUSED("resourceClaims", MUR_TYPE_OBJECTS, "there are no resource claims"),
    IDLE("affinity", MUR_TYPE_OBJECT, ONE_NODE),
    IDLE("nodeName", MUR_TYPE_STRING, ONE_NODE),
    IDLE("nodeSelector", MUR_TYPE_STRING_MAP, ONE_NODE),
    IDLE("tolerations", MUR_TYPE_OBJECTS, ONE_NODE),
    IDLE("topologySpreadConstraints", MUR_TYPE_OBJECTS, ONE_NODE),
    IDLE("schedulerName", MUR_TYPE_STRING, ONE_NODE),
    IDLE("schedulingGates", MUR_TYPE_OBJECTS, ONE_NODE),
    IDLE("priority", MUR_TYPE_INTEGER, ONE_NODE),
    IDLE("priorityClassName", MUR_TYPE_STRING, ONE_NODE),
    IDLE("preemptionPolicy", MUR_TYPE_STRING, ONE_NODE),
    IDLE("overhead", MUR_TYPE_QUANTITY_MAP, ONE_NODE),
    IDLE("runtimeClassName", MUR_TYPE_STRING, NO_IMAGES),
    IDLE("imagePullSecrets", MUR_TYPE_OBJECTS, NO_IMAGES),
    IDLE("os", MUR_TYPE_OBJECT, NO_IMAGES),
    IDLE("readinessGates", MUR_TYPE_OBJECTS, NO_PROBES),
    IDLE("dnsPolicy", MUR_TYPE_STRING, "names of pods are in /etc/hosts"),
    IDLE("dnsConfig", MUR_TYPE_OBJECT, "names of pods are in /etc/hosts"),
    IDLE("serviceAccount", MUR_TYPE_STRING, "pods call no API"),
    IDLE("serviceAccountName", MUR_TYPE_STRING, "pods call no API"),
    IDLE("automountServiceAccountToken", MUR_TYPE_BOOLEAN, "pods call no API"),
    IDLE("enableServiceLinks", MUR_TYPE_BOOLEAN, "names of pods are in /etc/hosts"),
    IDLE("hostUsers", MUR_TYPE_BOOLEAN, RIGHTS),
    {0},
};
const struct mur_field mur_pod_template_fields[] = {
    {.name = "metadata", .type = MUR_TYPE_OBJECT, .fields = mur_metadata_fields},
    {.name = "spec", .type = MUR_TYPE_OBJECT, .fields = spec_fields, .is_required = true},
    {0},
};

const struct mur_field mur_pod_fields[] = {
    {.name = "apiVersion", .type = MUR_TYPE_STRING, .is_required = true},
    {.name = "kind", .type = MUR_TYPE_STRING, .is_required = true},
    {.name = "metadata", .type = MUR_TYPE_OBJECT, .fields = mur_metadata_fields, .is_required = true},
    {.name = "spec", .type = MUR_TYPE_OBJECT, .fields = spec_fields, .is_required = true},
    IDLE("status", MUR_TYPE_OBJECT, "it is written, not read"),
    {0},
};
